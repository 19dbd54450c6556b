// What a report is made with: names, places, the analyzers, and the pipeline that tells them.
#pragma once

#include "analysis/analyzers/registry.h"
#include "analysis/foreign/foreign_analyzer.h"
#include "analysis/places/site_catalog.h"
#include "analysis/places/symbolizer.h"
#include "analysis/stream/checkpoints.h"
#include "analysis/stream/pipeline.h"

#include <list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace msleaks::analysis {

class RunAnalysis {
public:
  // A part of a run.
  RunAnalysis(Window window, Selection selection, const std::vector<AnalyzerLibrary> &own = {})
      : catalog(symbolizer), analyzers(makeAnalyzers()), own_analyzers(own.begin(), own.end()),
        pipeline(catalog, pointers(), std::move(window), std::move(selection)) {}
  // All of a run, with a checkpoint about every `checkpoint_events` events.
  explicit RunAnalysis(uint64_t checkpoint_events = Checkpoints::kEvents) : RunAnalysis({}, {}) {
    checkpoints.emplace(catalog, checkpoint_events);
    pipeline.take(*checkpoints);
  }

  Symbolizer symbolizer;
  SiteCatalog catalog;
  std::vector<std::unique_ptr<Analyzer>> analyzers;
  std::list<ForeignAnalyzer> own_analyzers; // the user's
  Pipeline pipeline;
  std::optional<Checkpoints> checkpoints; // of all of a run

private:
  std::vector<Analyzer *> pointers() {
    std::vector<Analyzer *> list;
    for (const auto &analyzer : analyzers)
      list.push_back(analyzer.get());
    for (ForeignAnalyzer &analyzer : own_analyzers)
      list.push_back(&analyzer);
    return list;
  }
};

} // namespace msleaks::analysis
