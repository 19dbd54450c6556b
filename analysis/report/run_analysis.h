// What a report is made with: names, places, the analyzers, and the pipeline that tells them.
#pragma once

#include "analysis/analyzers/registry.h"
#include "analysis/places/site_catalog.h"
#include "analysis/places/symbolizer.h"
#include "analysis/stream/checkpoints.h"
#include "analysis/stream/pipeline.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace msleaks::analysis {

class RunAnalysis {
public:
  // A part of a run.
  RunAnalysis(Window window, Selection selection)
      : catalog(symbolizer), analyzers(makeAnalyzers()),
        pipeline(catalog, pointers(), std::move(window), std::move(selection)) {}
  // All of a run, with a checkpoint about every `checkpoint_events` events.
  explicit RunAnalysis(uint64_t checkpoint_events = Checkpoints::kEvents) : RunAnalysis({}, {}) {
    checkpoints.emplace(catalog, checkpoint_events);
    pipeline.take(*checkpoints);
  }

  Symbolizer symbolizer;
  SiteCatalog catalog;
  std::vector<std::unique_ptr<Analyzer>> analyzers;
  Pipeline pipeline;
  std::optional<Checkpoints> checkpoints; // of all of a run

private:
  std::vector<Analyzer *> pointers() const {
    std::vector<Analyzer *> list;
    for (const auto &analyzer : analyzers)
      list.push_back(analyzer.get());
    return list;
  }
};

} // namespace msleaks::analysis
