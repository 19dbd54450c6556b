#include "analysis/compare/bisect.h"

#include "analysis/base/text.h"
#include "analysis/result/writer.h"

#include <fmt/format.h>
#include <ostream>
#include <sstream>

namespace msleaks::analysis::inline compare {
namespace {

constexpr size_t kMostCandidates = 10;

std::string figureName(const BisectResult &result) {
  const BisectMetric &metric = result.metric;
  switch (metric.kind) {
  case BisectMetric::Kind::Peak:
    return result.moment.empty() ? "The peak" : "The memory at " + printable(result.moment);
  case BisectMetric::Kind::Leaks:
    return "The size of the leaks";
  case BisectMetric::Kind::Place:
    return fmt::format("The memory of {}:{}", printable(metric.file), metric.line);
  }
  return {};
}

void writeCommit(std::ostream &to, const CommitFacts &commit) {
  to << fmt::format("  commit   {}\n  subject  {}\n  date     {}\n", commit.id, printable(commit.subject),
                    printable(commit.date));
}

size_t skippedOf(const BisectResult &result) {
  size_t skipped = 0;
  for (const TriedCommit &tried : result.tried)
    skipped += tried.verdict == CommitVerdict::Skipped;
  return skipped;
}

void writeNoDifference(std::ostream &to, const BisectResult &result) {
  const uint64_t good = result.before.bytes, bad = result.after.bytes;
  if (good == bad)
    to << fmt::format("{} does not differ: {} at GOOD and at BAD.\n", figureName(result), bytesText(good));
  else
    to << fmt::format("{} does not differ: {} at GOOD, {} at BAD, and two runs of one of them differ by {}.\n",
                      figureName(result), bytesText(good), bytesText(bad), bytesText(result.noise_bytes));
}

const char *wordOf(CommitVerdict verdict) {
  constexpr const char *kWords[] = {"good", "bad", "skipped"};
  return kWords[static_cast<size_t>(verdict)];
}

Json jsonOf(const CommitFacts &commit) {
  return {{"commit", commit.id}, {"subject", commit.subject}, {"author_date", commit.date}};
}

Json jsonOf(const MeasuredCommit &measured) {
  Json json = jsonOf(measured.commit);
  json["bytes"] = measured.bytes;
  return json;
}

Json jsonOf(const TriedCommit &tried) {
  Json json = jsonOf(tried.commit);
  json["bytes"] = tried.bytes ? Json(*tried.bytes) : Json();
  json["verdict"] = wordOf(tried.verdict);
  json["failure"] = tried.failure.empty() ? Json() : Json(tried.failure);
  return json;
}

template <class List> Json listOf(const List &list) {
  Json json = Json::array();
  for (const auto &element : list)
    json.push_back(jsonOf(element));
  return json;
}

// Removes the folder of the working tree from all paths, because readers of the text do not have this folder.
std::string withoutTree(std::string text, const std::filesystem::path &tree) {
  const std::string prefix = tree.string() + "/";
  for (size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at))
    text.erase(at, prefix.size());
  return text;
}

} // namespace

std::string sideJson(const BisectResult &result, const MeasuredCommit &side) {
  std::ostringstream text;
  writeReportJson(text, side.recorded.report);
  return withoutTree(text.str(), result.tree);
}

void writeBisectText(std::ostream &to, const BisectResult &result, size_t columns, bool is_whole) {
  if (!result.differs)
    return writeNoDifference(to, result);
  const std::string change = fmt::format("{} -> {}", bytesText(result.before.bytes), bytesText(result.after.bytes));
  if (result.candidates.size() == 1) {
    to << fmt::format("{} changed in this commit: {}\n", figureName(result), change);
    writeCommit(to, result.candidates.front());
  } else {
    to << fmt::format("{} changed in one of these {} commits: {}. The command fails on the others.\n",
                      figureName(result), result.candidates.size(), change);
    for (size_t i = 0; i < std::min(result.candidates.size(), kMostCandidates); ++i)
      writeCommit(to, result.candidates[i]);
    if (result.candidates.size() > kMostCandidates)
      to << fmt::format("  and {} more: --json\n", result.candidates.size() - kMostCandidates);
  }
  to << fmt::format("  commits  {} between GOOD and BAD; {} tried, {} skipped\n\n", countText(result.commits - 1),
                    result.tried.size() - 2, skippedOf(result));
  writeComparisonText(to, result.comparison, columns, is_whole);
}

void writeBisectJson(std::ostream &to, const BisectResult &result, const NameTable &names) {
  Json json = comparisonJson(result.comparison, names);
  json["bisect"] = {{"metric", textOf(result.metric)},
                    {"differs", result.differs},
                    {"noise_bytes", result.noise_bytes},
                    {"first_bad", result.candidates.size() == 1 ? jsonOf(result.candidates.front()) : Json()},
                    {"candidates", listOf(result.candidates)},
                    {"before", jsonOf(result.before)},
                    {"after", jsonOf(result.after)},
                    {"commits", result.commits},
                    {"tried", listOf(result.tried)}};
  std::ostringstream text;
  write(text, json, 2);
  to << withoutTree(text.str(), result.tree) << '\n';
}

} // namespace msleaks::analysis::inline compare
