// Runs a command on commits of a repository, in a working tree of its own, and records it.
#pragma once

#include "analysis/compare/git.h"
#include "analysis/report/question.h"
#include "analysis/result/report.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace msleaks::analysis::inline compare {

// The commands for each commit.
struct CommitCommand {
  std::vector<std::string> command; // recorded. A single word with spaces is a line for the shell
  std::string build;                // a line for the shell that is run first and not recorded; may be empty
  std::filesystem::path recorder;   // msleaks-run
  std::optional<State> at;          // whose live blocks count; none: the whole run
};

struct RecordedCommit {
  Report report;
  std::filesystem::path run;     // the folder of the run, below that of CommitRuns
  bool has_whole_command = true; // the processes of all programs count, not only those of programs in the tree
};

// Either the recording, or one line that says why there is none.
using CommitAttempt = tl::expected<RecordedCommit, std::string>;

// The working tree is a linked one of git, in a folder for temporary files. The destructor removes both. The user's
// working tree and index stay as they are.
class CommitRuns {
public:
  // `git`: in the user's folder. `tree_folder`: the user's folder in its working tree; the command is run there.
  static Result<CommitRuns> make(const Git &git, const std::string &tree_folder, const std::string &commit,
                                 CommitCommand, const StopSignals &);
  CommitRuns(CommitRuns &&) noexcept;
  CommitRuns &operator=(CommitRuns &&) = delete;
  ~CommitRuns();

  std::filesystem::path tree() const { return folder_ / "tree"; } // the working tree
  const Git &git() const { return tree_git_; }                    // in it
  // Builds and runs a commit. An error: msleaks or git failed, or a signal asks to stop.
  Result<CommitAttempt> record(const std::string &commit);

private:
  CommitRuns(const Git &git, std::filesystem::path folder, std::string tree_folder, CommitCommand command,
             const StopSignals &signals)
      : git_(git), tree_git_(git), folder_(std::move(folder)), tree_folder_(std::move(tree_folder)),
        command_(std::move(command)), signals_(&signals) {}

  std::filesystem::path place() const { return tree() / tree_folder_; }
  // Empty: the program succeeded. Otherwise its status and the last line of its output.
  Result<std::string> run(const std::vector<std::string> &command, const std::string &what);
  std::vector<std::string> recordedCommand() const;
  Result<CommitAttempt> read(const std::filesystem::path &run);

  Git git_, tree_git_;
  std::filesystem::path folder_; // empty: moved from
  std::string tree_folder_;
  CommitCommand command_;
  const StopSignals *signals_;
  size_t runs_ = 0;
};

} // namespace msleaks::analysis::inline compare
