// msleaks whatif RUN: computes the peak of the run if blocks were freed earlier, allocated later, shared, or not
// allocated.
#include "analysis/base/terminal.h"
#include "analysis/base/text.h"
#include "analysis/report/analyze_run.h"
#include "analysis/report/question.h"
#include "analysis/result/report.h"
#include "verb.h"

#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

namespace msleaks::tools {
namespace {

using analysis::Change;
using Json = nlohmann::ordered_json;

struct WhatIfOptions {
  std::string run, heap;
  std::vector<std::string> free_at_last_use, alloc_at_first_use, drop, share;
  bool json = false;
};

Result<std::vector<Change>> changesOf(const WhatIfOptions &options) {
  std::vector<Change> changes;
  for (const std::string &site : options.free_at_last_use)
    changes.push_back({Change::Kind::FreeAtLastUse, site});
  for (const std::string &site : options.alloc_at_first_use)
    changes.push_back({Change::Kind::AllocAtFirstUse, site});
  for (const std::string &site : options.drop)
    changes.push_back({Change::Kind::Drop, site});
  for (const std::string &both : options.share) {
    const size_t comma = both.find(',');
    if (comma == 0 || comma == std::string::npos || comma + 1 == both.size())
      return fail(fmt::format("--share '{}': two sites with a comma between them are needed", both), ExitStatus::Usage);
    changes.push_back({Change::Kind::Share, both.substr(0, comma), both.substr(comma + 1)});
  }
  if (changes.empty())
    return fail("no change is given: use --free-at-last-use, --alloc-at-first-use, --drop or --share",
                ExitStatus::Usage);
  return changes;
}

void writeWhatIfJson(std::ostream &to, const analysis::WhatIf &what_if, uint64_t start_ns) {
  Json curve = Json::array();
  for (const auto &point : what_if.curve)
    curve.push_back({{"since_start_ns", point.time_ns == UINT64_MAX ? Json() : Json(point.time_ns - start_ns)},
                     {"bytes", point.bytes},
                     {"new_bytes", point.new_bytes}});
  const Json json = {{"peak_bytes", what_if.peak_bytes},
                     {"new_peak_bytes", what_if.new_peak_bytes},
                     {"floor_bytes", what_if.floor_bytes ? Json(*what_if.floor_bytes) : Json()},
                     {"curve", std::move(curve)}};
  to << json.dump(2) << '\n';
}

// Returns the curve as a line of at most 60 bars. A bar's height is the highest value of its points, in eighths of the
// peak.
std::string barsOf(const std::vector<analysis::WhatIf::Point> &curve, uint64_t analysis::WhatIf::Point::*bytes,
                   uint64_t peak_bytes) {
  static constexpr const char *kBars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr size_t kMostBars = 60;
  const size_t step = (curve.size() + kMostBars - 1) / kMostBars;
  std::string bars;
  for (size_t begin = 0; begin < curve.size(); begin += step) {
    uint64_t highest = 0;
    for (size_t i = begin; i < std::min(begin + step, curve.size()); ++i)
      highest = std::max(highest, curve[i].*bytes);
    bars += kBars[peak_bytes == 0 ? 0 : (highest * 8 + peak_bytes - 1) / peak_bytes];
  }
  return bars;
}

void writeWhatIfText(std::ostream &to, const analysis::WhatIf &what_if) {
  using Point = analysis::WhatIf::Point;
  const auto line = [&](const char *word, const std::string &value) { to << fmt::format("{:<10}{}\n", word, value); };
  const uint64_t saved = what_if.peak_bytes - std::min(what_if.peak_bytes, what_if.new_peak_bytes);
  line("peak", analysis::bytesText(what_if.peak_bytes));
  line("new peak", fmt::format("{}, {} less", analysis::bytesText(what_if.new_peak_bytes), analysis::bytesText(saved)));
  if (what_if.floor_bytes)
    line("floor", analysis::bytesText(*what_if.floor_bytes));
  line("now", barsOf(what_if.curve, &Point::bytes, what_if.peak_bytes));
  line("changed", barsOf(what_if.curve, &Point::new_bytes, what_if.peak_bytes));
}

Result<ExitStatus> whatif(const WhatIfOptions &options) {
  analysis::ReportQuestion question;
  question.changes = MSL_TRY(changesOf(options));
  if (!options.heap.empty())
    question.heap = MSL_TRY(analysis::parseHeap(options.heap));
  analysis::ProgressLine line;
  const auto report = MSL_TRY(
      analysis::analyzeRun(options.run, question, [&line](const std::string &doing) { line.drawIfDue(doing); }));
  line.erase();
  if (!report.what_if->failure.empty())
    return fail(report.what_if->failure, ExitStatus::Usage);
  if (options.json)
    writeWhatIfJson(std::cout, *report.what_if, report.start_ns);
  else
    writeWhatIfText(std::cout, *report.what_if);
  return ExitStatus::Clean;
}

Action declareWhatIf(CommandLine &line) {
  const auto options = std::make_shared<WhatIfOptions>();
  line.option("RUN", options->run, "names the folder of a run, or its trace file").required();
  const auto add = [&](const char *name, std::vector<std::string> &sites, const char *doc) {
    line.option(name, sites, doc).valueName("SITE").oneAtATime();
  };
  add("--free-at-last-use", options->free_at_last_use,
      "frees the blocks of SITE (FILE:LINE, function or variable) at their last use");
  add("--alloc-at-first-use", options->alloc_at_first_use, "allocates the blocks of SITE at their first use");
  add("--drop", options->drop, "never allocates the blocks of SITE");
  line.option("--share", options->share, "lets the blocks of both places use the same memory")
      .valueName("SITE,SITE")
      .oneAtATime();
  line.option("--heap", options->heap, "computes the peak of this heap only: host, mapping, device, pinned, managed");
  line.flag("--json", options->json, "prints a JSON object (docs/analyses.md)");
  return [options] { return whatif(*options); };
}

} // namespace

MSL_REGISTER_VERB(whatif, "computes the peak for blocks that are freed earlier, allocated later, or left out",
                  declareWhatIf)

} // namespace msleaks::tools
