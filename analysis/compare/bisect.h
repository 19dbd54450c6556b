// Finds the commit that changed a figure of a program's memory (docs/compare.md, "Which commit it was").
#pragma once

#include "analysis/compare/bisect_metric.h"
#include "analysis/compare/commit_runs.h"
#include "analysis/compare/git.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace msleaks::analysis::inline compare {

struct CommitFacts {
  std::string id, subject, date; // the whole hash; the subject; the author's date
};

enum class CommitVerdict : uint8_t { Good, Bad, Skipped };

struct TriedCommit {
  CommitFacts commit;
  std::optional<uint64_t> bytes; // none: the commit was skipped
  CommitVerdict verdict = CommitVerdict::Skipped;
  std::string failure; // why the commit was skipped
};

// A commit whose memory was recorded.
struct MeasuredCommit {
  CommitFacts commit;
  RecordedCommit recorded;
  uint64_t bytes = 0;
};

struct BisectResult {
  BisectMetric metric;
  std::string moment;                  // the moment of the figure, in the user's words; empty: `peak` or `end`
  MeasuredCommit before, after;        // the commits before and after the change; without a change GOOD and BAD
  bool differs = false;                // whether GOOD and BAD differ by more than two runs of one commit
  uint64_t noise_bytes = 0;            // how much two runs of one commit differed
  std::vector<CommitFacts> candidates; // the first bad commit; several if skipped commits lie between them
  std::vector<TriedCommit> tried;      // in the order of their runs, GOOD and BAD first
  uint64_t commits = 0;                // number of commits after GOOD, up to BAD
  RunComparison comparison;            // comparison of `before` and `after`
  std::filesystem::path tree;          // the folder in which the commits were built; removed with the Bisect
};

struct BisectQuestion {
  std::string good, bad; // in the user's words
  BisectMetric metric;
  StateAt at = StateAt::Peak;
  std::string at_text = "peak"; // the moment in the user's words
  CommitCommand command;
};

// Receives messages while a bisect runs.
struct BisectListener {
  std::function<void(const std::string &)> warning;  // gets one line
  std::function<void(const std::string &)> progress; // gets a line that says what happens now
};

// Runs a bisect. The run folders of the result are removed with this object.
class Bisect {
public:
  Bisect(BisectQuestion question, const StopSignals &signals, BisectListener listener)
      : question_(std::move(question)), signals_(signals), listener_(std::move(listener)) {}

  // `names` gets the names of launches.
  Result<BisectResult> run(NameTable &names);

private:
  Result<void> findCommits(const Git &);
  Result<CommitFacts> factsOf(const Git &, const std::string &id) const;
  Result<void> measureEnds();
  Result<void> search();
  // Records a commit. If the runs of GOOD have programs of the tree, a commit without such programs counts as failed.
  Result<CommitAttempt> record(const std::string &id);
  Result<CommitVerdict> judge(const std::string &id);
  // Reads from git's log what git has found. Returns false if the search must go on.
  Result<bool> readFound();
  Result<void> measureSides();
  Result<MeasuredCommit> measureEnd(const CommitFacts &, const char *name);
  void keep(MeasuredCommit &&, CommitVerdict);
  Result<void> compareSides(NameTable &names);

  BisectQuestion question_;
  const StopSignals &signals_;
  BisectListener listener_;
  CommitFacts good_, bad_;
  std::string tree_folder_;
  std::optional<CommitRuns> runs_;
  std::optional<BisectFigures> figures_;
  bool has_programs_in_tree_ = false;     // whether GOOD ran programs of the tree
  double good_bytes_ = 0, bad_bytes_ = 0; // means of two runs, if two were made
  BisectResult result_;
};

// Writes the text of the commit, and then the text of the comparison. A is the commit before the change, B the commit
// after it.
void writeBisectText(std::ostream &, const BisectResult &, size_t columns, bool is_whole = false);
// Writes the comparison's JSON with one more key, `bisect`. Paths of the repository's files begin at the repository's
// root.
void writeBisectJson(std::ostream &, const BisectResult &, const NameTable &names);
// Returns the report of one side, as `msleaks report --json` prints it. Paths of the repository's files begin at the
// repository's root.
std::string sideJson(const BisectResult &, const MeasuredCommit &side);

} // namespace msleaks::analysis::inline compare
