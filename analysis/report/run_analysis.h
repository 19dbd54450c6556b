// What a report is made with: names, places, the analyzers, and the pipeline that tells them.
#pragma once

#include "analysis/analyzers/registry.h"
#include "analysis/places/site_catalog.h"
#include "analysis/places/symbolizer.h"
#include "analysis/stream/pipeline.h"

#include <memory>
#include <utility>
#include <vector>

namespace msleaks::analysis {

class RunAnalysis {
public:
  explicit RunAnalysis(Window window = {}, Selection selection = {})
      : catalog(symbolizer), analyzers(makeAnalyzers()),
        pipeline(catalog, pointers(), std::move(window), std::move(selection)) {}

  Symbolizer symbolizer;
  SiteCatalog catalog;
  std::vector<std::unique_ptr<Analyzer>> analyzers;
  Pipeline pipeline;

private:
  std::vector<Analyzer *> pointers() const {
    std::vector<Analyzer *> list;
    for (const auto &analyzer : analyzers)
      list.push_back(analyzer.get());
    return list;
  }
};

} // namespace msleaks::analysis
