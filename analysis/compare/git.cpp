#include "analysis/compare/git.h"

#include "analysis/base/files.h"
#include "analysis/base/finished_program.h"

#include <cerrno>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace msleaks::analysis::inline compare {
namespace {

namespace fs = std::filesystem;

// Makes a file without a name, for the output of git.
FileDescriptor makeOutput() { return FileDescriptor(memfd_create("git", MFD_CLOEXEC)); }

std::string contentOf(const FileDescriptor &file) {
  struct stat facts{};
  if (fstat(file.get(), &facts) != 0)
    return {};
  std::string content(static_cast<size_t>(facts.st_size), '\0');
  const ssize_t count = pread(file.get(), content.data(), content.size(), 0);
  content.resize(count > 0 ? static_cast<size_t>(count) : 0);
  return content;
}

std::vector<std::string> linesOf(const std::string &text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

} // namespace

std::string GitAnswer::reason() const {
  return messages.empty() ? fmt::format("status {}", status) : messages.substr(0, messages.find('\n'));
}

Result<Git> Git::find(const StopSignals &signals) {
  const auto program = findProgram("git");
  if (!program)
    return fail("PATH has no git, and --bisect needs it: install git");
  std::error_code error;
  const fs::path here = fs::current_path(error);
  if (error)
    return fail("the current folder does not exist any more");
  return Git(signals, fs::absolute(*program), here);
}

Result<Git> Git::in(const fs::path &tree) const {
  Git git(*signals_, program_, tree);
  git.local_variables_ = linesOf(
      MSL_TRY(ask({"rev-parse", "--local-env-vars"}, "the variables that name a working tree to git are not known")));
  return git;
}

std::vector<std::string> Git::environment(const std::vector<std::string> &more) const {
  return environmentWithout(local_variables_, more);
}

Result<GitAnswer> Git::call(const std::vector<std::string> &arguments) const {
  const FileDescriptor output = makeOutput(), messages = makeOutput();
  if (!output.valid() || !messages.valid())
    return fail("no memory for the output of git: " + describeErrno(errno), ExitStatus::OwnFault);
  ProgramCall git{.program = program_,
                  .command = {"git", "-c", "core.hooksPath=/dev/null", "-c", "advice.detachedHead=false"},
                  .folder = folder_,
                  .environment = environment({"LC_ALL=C", "GIT_TERMINAL_PROMPT=0"}),
                  .output = output.get(),
                  .messages = messages.get(),
                  .is_short = true};
  git.command.insert(git.command.end(), arguments.begin(), arguments.end());
  GitAnswer answer;
  answer.status =
      MSL_TRY(runToEnd(git, *signals_).map_error([](const LaunchError &error) { return Error{error.message}; }));
  answer.text = contentOf(output);
  answer.messages = contentOf(messages);
  if (answer.text.ends_with('\n'))
    answer.text.pop_back();
  return answer;
}

Result<std::string> Git::ask(const std::vector<std::string> &arguments, const std::string &failure) const {
  GitAnswer answer = MSL_TRY(call(arguments));
  if (answer.status == 0)
    return std::move(answer.text);
  return fail(fmt::format("{} (git {}: {})", failure, arguments.front(), answer.reason()));
}

} // namespace msleaks::analysis::inline compare
