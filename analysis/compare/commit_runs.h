// Builds commits of a repository in a working tree of its own, and records a command on each commit.
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
  std::vector<std::string> command; // the recorded command; a single word with spaces is a line for the shell
  std::string build;                // a line for the shell, runs before the command, is not recorded; may be empty
  std::filesystem::path recorder;   // msleaks-run
  std::optional<State> at;          // the moment whose live blocks count; none: the whole run
};

struct RecordedCommit {
  Report report;
  std::filesystem::path run;     // folder of the run, inside the folder of CommitRuns
  bool has_whole_command = true; // true: processes of all programs count, not only of programs in the tree
};

// The recording, or one line that says why there is none.
using CommitAttempt = tl::expected<RecordedCommit, std::string>;

// The working tree is a linked tree of git, in a temporary folder. The destructor removes both. The user's working tree
// and index do not change.
class CommitRuns {
public:
  // `git` runs in the user's folder. `tree_folder` is the path from the user's working tree to the user's folder. In
  // the linked tree, the command runs in the folder with this path.
  static Result<CommitRuns> make(const Git &git, const std::string &tree_folder, const std::string &commit,
                                 CommitCommand, const StopSignals &);
  CommitRuns(CommitRuns &&) noexcept;
  CommitRuns &operator=(CommitRuns &&) = delete;
  ~CommitRuns();

  std::filesystem::path tree() const { return folder_ / "tree"; } // the working tree
  const Git &git() const { return tree_git_; }                    // git in the linked tree
  // Builds and runs a commit. An error: msleaks or git failed, or a signal arrived.
  Result<CommitAttempt> record(const std::string &commit);

private:
  CommitRuns(const Git &git, std::filesystem::path folder, std::string tree_folder, CommitCommand command,
             const StopSignals &signals)
      : git_(git), tree_git_(git), folder_(std::move(folder)), tree_folder_(std::move(tree_folder)),
        command_(std::move(command)), signals_(&signals) {}

  std::filesystem::path place() const { return tree() / tree_folder_; }
  // Runs a command. Returns an empty text if the command succeeds, otherwise its status and the last line of its
  // output.
  Result<std::string> run(const std::vector<std::string> &command, const std::string &what);
  std::vector<std::string> recordedCommand() const;
  Result<CommitAttempt> read(const std::filesystem::path &run);

  Git git_, tree_git_;
  std::filesystem::path folder_; // empty: the object was moved from
  std::string tree_folder_;
  CommitCommand command_;
  const StopSignals *signals_;
  size_t runs_ = 0;
};

} // namespace msleaks::analysis::inline compare
