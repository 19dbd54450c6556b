#include "analysis/compare/commit_runs.h"

#include "analysis/base/files.h"
#include "analysis/base/finished_program.h"
#include "analysis/base/text.h"
#include "analysis/report/analyze_run.h"
#include "analysis/report/process_code.h"

#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <unistd.h>

namespace msleaks::analysis::inline compare {
namespace {

namespace fs = std::filesystem;

constexpr size_t kWidestLine = 120;

// Returns the last line of a log that is not empty.
std::string lastLineOf(const fs::path &log) {
  std::ifstream file(log, std::ios::binary);
  std::string last;
  for (std::string line; std::getline(file, line);)
    if (line.find_first_not_of(" \t\r") != std::string::npos)
      last = line;
  return cutEnd(printable(last), kWidestLine);
}

bool isShellLine(const std::vector<std::string> &command) {
  std::error_code error;
  return command.size() == 1 && command[0].find_first_of(" \t\n;&|") != std::string::npos &&
         !fs::exists(command[0], error);
}

// Returns the program to run. Files of the tree come first. If a script is in no commit, the script in the user's
// folder is run.
std::string programFor(const std::string &name, const fs::path &folder) {
  std::error_code error;
  const bool is_relative = name.find('/') != std::string::npos && name.front() != '/';
  if (!is_relative || fs::exists(folder / name, error) || !fs::exists(name, error))
    return name;
  return fs::absolute(name).string();
}

Result<fs::path> makeScratch() {
  std::error_code error;
  std::string folder = (fs::canonical(fs::temp_directory_path(error), error) / "msleaks-bisect-XXXXXX").string();
  if (error || mkdtemp(folder.data()) == nullptr) {
    const int reason = error ? error.value() : errno;
    return fail(fmt::format("'{}' cannot be made: {}; set TMPDIR to a folder for temporary files", folder,
                            describeErrno(reason)),
                ExitStatus::OwnFault);
  }
  return fs::path(folder);
}

} // namespace

Result<CommitRuns> CommitRuns::make(const Git &git, const std::string &tree_folder, const std::string &commit,
                                    CommitCommand command, const StopSignals &signals) {
  CommitRuns runs(git, MSL_TRY(makeScratch()), tree_folder, std::move(command), signals);
  runs.tree_git_ = MSL_TRY(git.in(runs.tree()));
  MSL_TRY(git.ask({"worktree", "add", "--quiet", "--detach", runs.tree().string(), commit},
                  "no working tree of the repository can be made"));
  return runs;
}

CommitRuns::CommitRuns(CommitRuns &&other) noexcept
    : git_(std::move(other.git_)), tree_git_(std::move(other.tree_git_)),
      folder_(std::exchange(other.folder_, fs::path())), tree_folder_(std::move(other.tree_folder_)),
      command_(std::move(other.command_)), signals_(other.signals_), runs_(other.runs_) {}

CommitRuns::~CommitRuns() {
  if (folder_.empty())
    return;
  // Git removes the state of `git bisect` together with the linked working tree.
  const auto removeTree = [&] {
    const auto removed = git_.call({"worktree", "remove", "--force", tree().string()});
    return removed && removed->status == 0;
  };
  const bool is_removed = removeTree();
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
  // If Git failed to delete the tree, Git now removes its entry, because the tree no longer exists. `git worktree
  // prune` would also remove entries of other trees that cannot be reached now.
  if (!is_removed)
    (void)removeTree();
}

Result<std::string> CommitRuns::run(const std::vector<std::string> &command, const std::string &what) {
  const fs::path log = folder_ / "log";
  const FileDescriptor output(open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600));
  if (!output.valid())
    return cannot("create", log, errno);
  const ProgramCall call{.program = command[0],
                         .command = command,
                         .folder = place(),
                         .environment = tree_git_.environment(),
                         .output = output.get(),
                         .messages = output.get()};
  const auto status = runToEnd(call, *signals_);
  if (signals_->arrived() != 0)
    return fail("stopped by a signal", ExitStatus::OwnFault);
  if (!status)
    return fail(status.error().message, ExitStatus::OwnFault);
  if (*status == 0)
    return std::string();
  const std::string line = lastLineOf(log);
  return fmt::format("{} failed with status {}{}", what, *status, line.empty() ? "" : ": " + line);
}

std::vector<std::string> CommitRuns::recordedCommand() const {
  const std::string run = (folder_ / fmt::format("run{}", runs_)).string();
  std::vector<std::string> command = {command_.recorder.string(), "--no-report", "--no-progress", "-o", run, "--"};
  if (isShellLine(command_.command)) {
    command.insert(command.end(), {"/bin/sh", "-c", command_.command[0]});
    return command;
  }
  command.insert(command.end(), command_.command.begin(), command_.command.end());
  command[command.size() - command_.command.size()] = programFor(command_.command[0], place());
  return command;
}

Result<CommitAttempt> CommitRuns::read(const fs::path &run) {
  RecordedCommit recorded;
  recorded.run = run;
  ReportQuestion question;
  question.at = command_.at;
  if (command_.build.empty()) {
    auto processes = MSL_TRY(processesWithCodeIn(tree(), run));
    recorded.has_whole_command = processes.empty();
    if (!processes.empty())
      question.processes = std::move(processes);
  }
  auto report = analyzeRun(run, question);
  if (!report)
    return CommitAttempt(tl::make_unexpected(report.error().message));
  recorded.report = *std::move(report);
  if (recorded.report.events.stored == 0)
    return CommitAttempt(tl::make_unexpected(std::string("the command ran, but no memory of it was recorded; "
                                                         "`msleaks doctor` shows the reason")));
  return CommitAttempt(std::move(recorded));
}

Result<CommitAttempt> CommitRuns::record(const std::string &commit) {
  if (signals_->arrived() != 0)
    return fail("stopped by a signal", ExitStatus::OwnFault);
  // --force, because a build of the commit before may have changed files.
  MSL_TRY(tree_git_.ask({"checkout", "--quiet", "--force", "--detach", commit}, commit + " cannot be checked out"));
  std::error_code error;
  if (!fs::is_directory(place(), error))
    return CommitAttempt(tl::make_unexpected(fmt::format("there is no folder {}", tree_folder_)));
  if (!command_.build.empty())
    if (std::string failure = MSL_TRY(run({"/bin/sh", "-c", command_.build}, "the build")); !failure.empty())
      return CommitAttempt(tl::make_unexpected(std::move(failure)));
  ++runs_;
  if (std::string failure = MSL_TRY(run(recordedCommand(), "the command")); !failure.empty())
    return CommitAttempt(tl::make_unexpected(std::move(failure)));
  return read(folder_ / fmt::format("run{}", runs_));
}

} // namespace msleaks::analysis::inline compare
