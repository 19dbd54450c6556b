// The objects of an analysis: names, places, the analyzers, and the pipeline that calls them.
#pragma once

#include "analysis/analyzers/registry.h"
#include "analysis/foreign/foreign_analyzer.h"
#include "analysis/places/site_catalog.h"
#include "analysis/places/symbolizer.h"
#include "analysis/report/analyze_run.h"
#include "analysis/report/question.h"
#include "analysis/result/report.h"
#include "analysis/stream/checkpoints.h"
#include "analysis/stream/pipeline.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline report {

using Analyzers = std::vector<std::unique_ptr<Analyzer>>;

class RunAnalysis {
public:
  // Analyzes a part of a run. `more` are additional analyzers, which are called after those of every report.
  RunAnalysis(Window window, Selection selection, const std::vector<AnalyzerLibrary> &own = {}, Analyzers more = {},
              History history = History::Kept)
      : catalog(symbolizer), analyzers(withAll(std::move(more))), own_analyzers(own.begin(), own.end()),
        pipeline(catalog, pointers(), std::move(window), std::move(selection), history) {}
  // Analyzes the whole run, with a checkpoint about every `checkpoint_events` events.
  explicit RunAnalysis(uint64_t checkpoint_events = Checkpoints::kEvents, History history = History::Kept)
      : RunAnalysis({}, {}, {}, {}, history) {
    checkpoints.emplace(catalog, checkpoint_events);
    pipeline.take(*checkpoints);
  }

  Symbolizer symbolizer;
  SiteCatalog catalog;
  Analyzers analyzers;
  std::list<ForeignAnalyzer> own_analyzers; // the user's
  Pipeline pipeline;
  std::optional<Checkpoints> checkpoints; // only for a whole run

private:
  static Analyzers withAll(Analyzers more) {
    Analyzers all = makeAnalyzers();
    std::move(more.begin(), more.end(), std::back_inserter(all));
    return all;
  }
  std::vector<Analyzer *> pointers() {
    std::vector<Analyzer *> list;
    for (const auto &analyzer : analyzers)
      list.push_back(analyzer.get());
    for (ForeignAnalyzer &analyzer : own_analyzers)
      list.push_back(&analyzer);
    return list;
  }
};

// Called with the finished report, while the objects that made it still exist.
using AfterReport = std::function<Result<void>(const Report &, const TraceReader &, RunAnalysis &)>;

// Makes the report of a run, to which additional analyzers contribute.
Result<Report> analyzeRun(const std::filesystem::path &run, const ReportQuestion &, const Progress &, Analyzers more,
                          const AfterReport &after = {});

} // namespace msleaks::analysis::inline report
