// msleaks run program…: replaces this process by msleaks-run, with all arguments unchanged.
#include "verb.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <unistd.h>

namespace msleaks::tools {
namespace {

// Executes msleaks-run. In a build and in an installation, msleaks-run is in the folder of this program.
Result<ExitStatus> becomeRun(std::vector<std::string> arguments) {
  std::error_code error;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", error);
  std::string program = own.parent_path() / "msleaks-run";
  std::vector<char *> words{program.data()};
  for (std::string &argument : arguments)
    words.push_back(argument.data());
  words.push_back(nullptr);
  execv(program.c_str(), words.data());
  return fail(program + ": " + std::strerror(errno) + "; install msleaks-run beside msleaks", ExitStatus::OwnFault);
}

Action declareRun(CommandLine &line) {
  const auto arguments = std::make_shared<std::vector<std::string>>();
  line.passOn(*arguments);
  return [arguments] { return becomeRun(*arguments); };
}

} // namespace

MSL_REGISTER_VERB(run, "runs a program and records where its memory goes; the same as msleaks-run", declareRun)

} // namespace msleaks::tools
