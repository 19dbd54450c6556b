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
  std::string id, subject, date; // the whole hash; the author's date
};

enum class CommitVerdict : uint8_t { Good, Bad, Skipped };

struct TriedCommit {
  CommitFacts commit;
  std::optional<uint64_t> bytes; // none: it was skipped
  CommitVerdict verdict = CommitVerdict::Skipped;
  std::string failure; // why it was skipped
};

// A commit whose memory was recorded.
struct MeasuredCommit {
  CommitFacts commit;
  RecordedCommit recorded;
  uint64_t bytes = 0;
};

struct BisectResult {
  BisectMetric metric;
  std::string moment;                  // that the figure is of, as the user names it; empty: `peak` or `end`
  MeasuredCommit before, after;        // on both sides of the change; without a change GOOD and BAD
  bool differs = false;                // whether GOOD and BAD differ by more than two runs of one of them
  uint64_t noise_bytes = 0;            // by how much two runs of one commit differed
  std::vector<CommitFacts> candidates; // the first bad commit is one of them. Several: those between were skipped
  std::vector<TriedCommit> tried;      // in the order of time, GOOD and BAD first
  uint64_t commits = 0;                // behind GOOD, up to BAD
  RunComparison comparison;            // of `before` and `after`
  std::filesystem::path tree;          // the working tree that the commits were built in; it is gone
};

struct BisectQuestion {
  std::string good, bad; // as the user names them
  BisectMetric metric;
  StateAt at = StateAt::Peak;
  std::string at_text = "peak"; // as the user names the moment
  CommitCommand command;
};

// Receives messages while a bisect runs.
struct BisectListener {
  std::function<void(const std::string &)> warning;  // one line
  std::function<void(const std::string &)> progress; // what is being done
};

// The result's run folders are removed with `runs`.
class Bisect {
public:
  Bisect(BisectQuestion question, const StopSignals &signals, BisectListener listener)
      : question_(std::move(question)), signals_(signals), listener_(std::move(listener)) {}

  // `names`: of the launches.
  Result<BisectResult> run(NameTable &names);

private:
  Result<void> findCommits(const Git &);
  Result<CommitFacts> factsOf(const Git &, const std::string &id) const;
  Result<void> measureEnds();
  Result<void> search();
  // A commit that runs no program of the tree, though GOOD does, counts as failed.
  Result<CommitAttempt> record(const std::string &id);
  Result<CommitVerdict> judge(const std::string &id);
  // Reads what git has found from its log; false: the search goes on.
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
  bool has_programs_in_tree_ = false;     // the runs of GOOD
  double good_bytes_ = 0, bad_bytes_ = 0; // means of two runs
  BisectResult result_;
};

// The comparison's text follows that of the commit; its A is the commit before the change, its B the one behind it.
void writeBisectText(std::ostream &, const BisectResult &, size_t columns, bool is_whole = false);
// The comparison's JSON with one more key, `bisect`. Paths of the repository's files begin in its root.
void writeBisectJson(std::ostream &, const BisectResult &, const NameTable &names);
// The report of one side, as `msleaks report --json` prints it. Paths of the repository's files begin in its root.
std::string sideJson(const BisectResult &, const MeasuredCommit &side);

} // namespace msleaks::analysis::inline compare
