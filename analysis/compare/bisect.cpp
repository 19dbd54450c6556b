#include "analysis/compare/bisect.h"

#include "analysis/base/text.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <sstream>

namespace msleaks::analysis::inline compare {
namespace {

// Returns a text like "3f2a9c1d8e07 Keep all rows".
std::string shortTextOf(const CommitFacts &commit) {
  constexpr size_t kDigits = 12, kWidestSubject = 60;
  return fmt::format("{} {}", commit.id.substr(0, kDigits), cutEnd(printable(commit.subject), kWidestSubject));
}

// Removes the working tree from a path, because the text has little room for paths. `prefix` is the working tree, with
// a slash at the end.
void cutPath(std::string &path, const std::string &prefix) {
  if (path.starts_with(prefix))
    path.erase(0, prefix.size());
}

void cutPaths(SiteText &site, const std::string &prefix) {
  cutPath(site.file, prefix);
  for (FrameText &frame : site.inlined_at)
    cutPath(frame.file, prefix);
}

void cutPaths(ComparedPlace &place, const std::string &prefix) {
  cutPaths(place.site, prefix);
  if (place.caller)
    cutPath(place.caller->file, prefix);
}

void cutPaths(RunComparison &comparison, const std::string &prefix) {
  for (ComparedMemory *memory : {&comparison.alive, &comparison.leaks, &comparison.pool_leaks, &comparison.allocated})
    for (ComparedPlace &place : memory->places)
      cutPaths(place, prefix);
  for (FindingChange &change : comparison.findings)
    cutPaths(change.finding.site, prefix);
}

uint64_t distance(uint64_t a, uint64_t b) { return std::max(a, b) - std::min(a, b); }

} // namespace

Result<CommitFacts> Bisect::factsOf(const Git &git, const std::string &id) const {
  const std::string text =
      MSL_TRY(git.ask({"show", "--no-show-signature", "--no-patch", "--format=%H%n%s%n%ai", id, "--"},
                      fmt::format("'{}' is no commit", id)));
  std::istringstream lines(text);
  CommitFacts facts;
  std::getline(lines, facts.id);
  std::getline(lines, facts.subject);
  std::getline(lines, facts.date);
  return facts;
}

Result<void> Bisect::findCommits(const Git &git) {
  tree_folder_ = MSL_TRY(git.ask({"rev-parse", "--show-prefix"},
                                 "the current folder is in no working tree of a git repository: go to one"));
  const auto find = [&](const std::string &name) -> Result<CommitFacts> {
    const std::string id = MSL_TRY(git.ask({"rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}"},
                                           fmt::format("'{}' is no commit of this repository", name)));
    return factsOf(git, id);
  };
  good_ = MSL_TRY(find(question_.good));
  bad_ = MSL_TRY(find(question_.bad));
  if (good_.id == bad_.id)
    return fail(fmt::format("'{}' and '{}' are the same commit: give two", question_.good, question_.bad));
  if (const auto known = MSL_TRY(git.call({"merge-base", "--is-ancestor", good_.id, bad_.id})); known.status != 0)
    return fail(fmt::format("'{}' is no ancestor of '{}': give two commits of one history, the older one first",
                            question_.good, question_.bad));
  const std::string count = MSL_TRY(git.ask({"rev-list", "--count", good_.id + ".." + bad_.id}, "no history"));
  result_.commits = std::strtoull(count.c_str(), nullptr, 10);
  const auto status = MSL_TRY(git.call({"--no-optional-locks", "status", "--porcelain", "--untracked-files=no"}));
  if (!status.text.empty())
    listener_.warning("your working tree has changes that are in no commit. The bisect runs on committed code only");
  return {};
}

Result<MeasuredCommit> Bisect::measureEnd(const CommitFacts &commit, const char *name) {
  listener_.progress(fmt::format("{}: {}", name, shortTextOf(commit)));
  auto attempt = MSL_TRY(runs_->record(commit.id));
  if (!attempt)
    return fail(fmt::format("{} ({}): {}", name, shortTextOf(commit), attempt.error()));
  return MeasuredCommit{commit, *std::move(attempt), 0};
}

// Runs GOOD and BAD. If their figures differ, runs each commit again to learn how much runs of one commit differ. If
// the figures are equal, there is nothing to search.
Result<void> Bisect::measureEnds() {
  MeasuredCommit good = MSL_TRY(measureEnd(good_, "GOOD")), bad = MSL_TRY(measureEnd(bad_, "BAD"));
  figures_ = MSL_TRY(BisectFigures::of(question_.metric, good.recorded.report, bad.recorded.report, question_.at));
  good.bytes = figures_->bytesOf(good.recorded.report);
  bad.bytes = figures_->bytesOf(bad.recorded.report);
  if (good.recorded.has_whole_command || bad.recorded.has_whole_command) {
    if (question_.command.build.empty())
      listener_.warning("no recorded program is a file of the repository's working tree. So all processes of the "
                        "command count, also those of the build: use --build");
  }
  has_programs_in_tree_ = !good.recorded.has_whole_command;
  good_bytes_ = static_cast<double>(good.bytes);
  bad_bytes_ = static_cast<double>(bad.bytes);
  result_.differs = good.bytes != bad.bytes;
  if (result_.differs) {
    const uint64_t bad_again = figures_->bytesOf(MSL_TRY(measureEnd(bad_, "BAD again")).recorded.report);
    const uint64_t good_again = figures_->bytesOf(MSL_TRY(measureEnd(good_, "GOOD again")).recorded.report);
    result_.noise_bytes = std::max(distance(good.bytes, good_again), distance(bad.bytes, bad_again));
    good_bytes_ = (good_bytes_ + static_cast<double>(good_again)) / 2;
    bad_bytes_ = (bad_bytes_ + static_cast<double>(bad_again)) / 2;
    result_.differs = std::abs(bad_bytes_ - good_bytes_) > static_cast<double>(result_.noise_bytes);
  }
  keep(std::move(good), CommitVerdict::Good);
  keep(std::move(bad), CommitVerdict::Bad);
  return {};
}

// Keeps only the last good and the last bad commit with their runs.
void Bisect::keep(MeasuredCommit &&measured, CommitVerdict verdict) {
  result_.tried.push_back({measured.commit, measured.bytes, verdict, {}});
  MeasuredCommit &side = verdict == CommitVerdict::Good ? result_.before : result_.after;
  std::error_code ignored;
  if (!side.recorded.run.empty())
    std::filesystem::remove_all(side.recorded.run, ignored);
  side = std::move(measured);
}

Result<CommitAttempt> Bisect::record(const std::string &id) {
  auto attempt = MSL_TRY(runs_->record(id));
  if (attempt && attempt->has_whole_command && has_programs_in_tree_)
    return CommitAttempt(tl::make_unexpected(std::string("the command ran no program of the working tree")));
  return attempt;
}

Result<CommitVerdict> Bisect::judge(const std::string &id) {
  const CommitFacts commit = MSL_TRY(factsOf(runs_->git(), id));
  auto attempt = MSL_TRY(record(id));
  if (!attempt) {
    listener_.warning(fmt::format("{} is skipped: {}", shortTextOf(commit), attempt.error()));
    result_.tried.push_back({commit, {}, CommitVerdict::Skipped, attempt.error()});
    return CommitVerdict::Skipped;
  }
  const uint64_t bytes = figures_->bytesOf(attempt->report);
  const auto exact = static_cast<double>(bytes);
  const bool is_bad = std::abs(exact - bad_bytes_) < std::abs(exact - good_bytes_);
  const CommitVerdict verdict = is_bad ? CommitVerdict::Bad : CommitVerdict::Good;
  keep({commit, *std::move(attempt), bytes}, verdict);
  return verdict;
}

Result<bool> Bisect::readFound() {
  const std::string log = MSL_TRY(runs_->git().ask({"bisect", "log"}, "git has lost the log of the bisect"));
  constexpr std::string_view kFirst = "# first bad commit: [", kPossible = "# possible first bad commit: [";
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);)
    for (const std::string_view begin : {kFirst, kPossible})
      if (line.starts_with(begin)) {
        const std::string id = line.substr(begin.size(), line.find(']') - begin.size());
        result_.candidates.push_back(MSL_TRY(factsOf(runs_->git(), id)));
      }
  return !result_.candidates.empty();
}

// `git bisect` chooses the commits. It does not check them out, because its checkout fails if a build changed files.
Result<void> Bisect::search() {
  const Git &git = runs_->git();
  MSL_TRY(git.ask({"bisect", "start", "--no-checkout", bad_.id, good_.id, "--"}, "the bisect cannot begin"));
  constexpr const char *kWords[] = {"good", "bad", "skip"};
  while (!MSL_TRY(readFound())) {
    const std::string id = MSL_TRY(git.ask({"rev-parse", "--verify", "BISECT_HEAD"}, "the bisect has no next commit"));
    listener_.progress(fmt::format("commit {} of about {}: {}", result_.tried.size() - 1,
                                   static_cast<uint64_t>(std::log2(static_cast<double>(result_.commits)) + 1),
                                   id.substr(0, 12)));
    const CommitVerdict verdict = MSL_TRY(judge(id));
    const GitAnswer next = MSL_TRY(git.call({"bisect", kWords[static_cast<size_t>(verdict)], id}));
    if (next.status == 0)
      continue;
    // Git also fails if only skipped commits are left. Then its log names them.
    if (MSL_TRY(readFound()))
      return {};
    return fail("git bisect cannot go on: " + next.reason());
  }
  return {};
}

// Measures the parent of the first bad commit if this parent is not the last good commit. A merge has several parents.
Result<void> Bisect::measureSides() {
  if (result_.candidates.size() != 1)
    return {};
  const CommitFacts parent = MSL_TRY(factsOf(runs_->git(), result_.candidates.front().id + "^"));
  if (parent.id == result_.before.commit.id)
    return {};
  auto attempt = MSL_TRY(record(parent.id));
  if (!attempt)
    return {};
  result_.before = {parent, *std::move(attempt), 0};
  result_.before.bytes = figures_->bytesOf(result_.before.recorded.report);
  return {};
}

Result<void> Bisect::compareSides(NameTable &names) {
  RecordedCommit &before = result_.before.recorded, &after = result_.after.recorded;
  before.report.run = result_.before.commit.id;
  after.report.run = result_.after.commit.id;
  result_.comparison = compareRuns(before.report, after.report, question_.at);
  result_.comparison.at = question_.at_text;
  result_.tree = runs_->tree();
  cutPaths(result_.comparison, result_.tree.string() + "/");
  if (question_.at == StateAt::Cut)
    return {};
  const RunLaunches first = MSL_TRY(launchesOf(before.run, names)), second = MSL_TRY(launchesOf(after.run, names));
  result_.comparison.launches = compareLaunches(first, second);
  return {};
}

Result<BisectResult> Bisect::run(NameTable &names) {
  if (question_.at == StateAt::Cut) {
    if (question_.metric.kind == BisectMetric::Kind::Leaks)
      return fail(fmt::format("--metric leaks: a moment such as {} has no leaks; leave out --at", question_.at_text),
                  ExitStatus::Usage);
    result_.moment = question_.at_text;
  }
  const Git git = MSL_TRY(Git::find(signals_));
  MSL_TRY(findCommits(git));
  result_.metric = question_.metric;
  runs_.emplace(MSL_TRY(CommitRuns::make(git, tree_folder_, good_.id, question_.command, signals_)));
  MSL_TRY(measureEnds());
  if (result_.differs) {
    MSL_TRY(search());
    MSL_TRY(measureSides());
  }
  MSL_TRY(compareSides(names));
  return std::move(result_);
}

} // namespace msleaks::analysis::inline compare
