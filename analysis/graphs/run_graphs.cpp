#include "analysis/graphs/run_graphs.h"

#include "analysis/graphs/counts_reader.h"
#include "analysis/places/symbolizer.h"
#include "analysis/run/run_folder.h"

#include "msleaks/abi/counts_file.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <tuple>

namespace msleaks::analysis {
namespace {

namespace fs = std::filesystem;

// Counts by edge: equal graphs of several modules have other counters.
struct Sum {
  Graph graph; // its counters are its own, from 0
  std::vector<uint64_t> counts;
};
using Sums = std::map<std::tuple<std::string, std::string, uint64_t>, Sum>; // by symbol, file and hash

void add(CountedModule module, Sums &sums) {
  for (Graph &graph : module.module.graphs) {
    std::vector<uint64_t> counts;
    for (GraphEdge &edge : graph.edges)
      if (edge.counter != abi::kNoCounter) {
        counts.push_back(edge.counter < module.counts.size() ? module.counts[edge.counter] : 0);
        edge.counter = static_cast<uint32_t>(counts.size() - 1);
      }
    Sum &sum = sums[{graph.symbol, graph.file, graph.hash}];
    if (sum.counts.size() != counts.size() || sum.graph.edges.size() != graph.edges.size()) {
      sum = {std::move(graph), std::move(counts)};
      continue;
    }
    for (size_t i = 0; i < counts.size(); ++i)
      sum.counts[i] += counts[i];
  }
}

Result<std::vector<fs::path>> countsFilesOf(const fs::path &run) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(run / abi::kCountsFolder, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().extension() == abi::kCountsSuffix)
      files.push_back(entry->path());
  if (files.empty())
    return fail(fmt::format("{}: no edges were counted in this run: build with msleaks-clang --msl-cfg, or with "
                            "MSLEAKS_PASS=cfg and the plugin, and run it under msleaks-run",
                            run.string()));
  std::ranges::sort(files);
  return files;
}

} // namespace

uint64_t instructionsRun(const CountedFunction &function, size_t block) {
  return instructionsOf(function.graph.blocks[block]) * function.counts.blocks[block].value_or(0);
}

uint64_t instructionsRun(const CountedFunction &function) {
  uint64_t sum = 0;
  for (size_t i = 0; i < function.graph.blocks.size(); ++i)
    sum += instructionsRun(function, i);
  return sum;
}

std::optional<fs::file_time_type> countedAt(const fs::path &run) {
  std::optional<fs::file_time_type> latest;
  const auto folder = RunFolder::open(run);
  const auto files = folder ? countsFilesOf(folder->path()) : Result<std::vector<fs::path>>();
  if (!files)
    return latest;
  for (const fs::path &file : *files) {
    std::error_code error;
    if (const auto time = fs::last_write_time(file, error); !error && (!latest || time > *latest))
      latest = time;
  }
  return latest;
}

Result<std::vector<CountedFunction>> graphsOfRun(const fs::path &run) {
  const RunFolder folder = MSL_TRY(RunFolder::open(run));
  Sums sums;
  for (const fs::path &file : MSL_TRY(countsFilesOf(folder.path())))
    for (CountedModule &module : MSL_TRY(readCountsFile(file)))
      add(std::move(module), sums);
  std::vector<CountedFunction> functions;
  for (auto &[key, sum] : sums) {
    FunctionCounts counts = countsOf(sum.graph, sum.counts);
    std::string name = demangle(sum.graph.symbol);
    functions.push_back({std::move(sum.graph), std::move(name), std::move(counts)});
  }
  std::ranges::stable_sort(functions, {}, &CountedFunction::name);
  return functions;
}

} // namespace msleaks::analysis
