// msleaks VERB …: looks at what msleaks-run recorded.
#include "analysis/base/log.h"
#include "verb.h"

#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>
#include <iostream>

namespace msleaks::tools {
namespace {

int complain(const std::string &message, ExitStatus status) {
  std::cerr << "msleaks: " << message << '\n';
  return static_cast<int>(status);
}

int run(int count, char **arguments) {
  CLI::App app("Looks at what msleaks-run recorded, and at what the compiler plugin marked.", "msleaks");
  app.set_version_flag("--version", "msleaks " MSLEAKS_VERSION);
  app.require_subcommand(0, 1); // none is told below: CLI11 would tell it also of a word that is no verb
  app.fallthrough();            // options of the program may also stand behind the verb
  std::string level;
  app.add_option("--log-level", level, "trace, debug, info, warning, error or off; also MSLEAKS_LOG");
  Action chosen;
  for (const Verb &verb : makeVerbs()) {
    CLI::App *subcommand = app.add_subcommand(verb.name, verb.summary);
    subcommand->callback([&chosen, action = verb.declare(*subcommand)] { chosen = action; });
  }

  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success))
      return app.exit(error); // help, version
    return complain(std::string(error.what()) + "; see msleaks --help", ExitStatus::Usage);
  }
  if (!chosen)
    return complain("no verb is given; see msleaks --help", ExitStatus::Usage);
  if (const Result<void> log = analysis::startLog("msleaks", level); !log)
    return complain(log.error().message, log.error().status);
  const Result<ExitStatus> status = chosen();
  if (!status)
    return complain(status.error().message, status.error().status);
  if (!std::cout.flush())
    return complain("the output could not be written", ExitStatus::OwnFault);
  return static_cast<int>(*status);
}

} // namespace
} // namespace msleaks::tools

int main(int count, char **arguments) {
  using namespace msleaks;
  // A reader of ours that has seen enough (`| head`) ends us quietly, also when our parent ignores the signal.
  std::signal(SIGPIPE, SIG_DFL);
  try {
    return tools::run(count, arguments);
  } catch (const std::bad_alloc &) {
    return tools::complain("out of memory", ExitStatus::OwnFault);
  } catch (const std::exception &error) {
    return tools::complain(std::string("a fault of msleaks itself: ") + error.what(), ExitStatus::OwnFault);
  }
}
