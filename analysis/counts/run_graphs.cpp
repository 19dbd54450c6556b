#include "analysis/counts/run_graphs.h"

#include "analysis/base/run_folder.h"
#include "analysis/counts/counts_reader.h"
#include "analysis/counts/edge_counts.h"
#include "analysis/places/symbolizer.h"
#include "msleaks/abi/counts_file.h"
#include "msleaks/abi/flags.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <tuple>

namespace msleaks::analysis::inline counts {
namespace {

namespace fs = std::filesystem;

// The sums for one graph. Modules may number the counters of equal graphs differently, so the sums are stored by edge.
struct Sum {
  Graph graph; // with the graph's own numbers of counters, from 0
  std::vector<uint64_t> counts;
  Sample sample;
  std::vector<abi::CountedLaunches> launches;
  std::vector<SampledGroup> groups;
  bool knows_error = true;
};
using Sums = std::map<std::tuple<std::string, std::string, uint64_t>, Sum>; // keys: symbol, file and hash

bool isOfOneShape(const abi::CountedLaunches &left, const abi::CountedLaunches &right) {
  return left.mode == right.mode && std::ranges::equal(left.grid, right.grid) &&
         std::ranges::equal(left.block, right.block);
}

void add(const abi::CountedLaunches &launches, std::vector<abi::CountedLaunches> &to) {
  const auto known = std::ranges::find_if(to, [&](const auto &other) { return isOfOneShape(launches, other); });
  if (known == to.end()) {
    to.push_back(launches);
    return;
  }
  known->launches += launches.launches;
  known->counted += launches.counted;
  known->threads += launches.threads;
  known->counted_threads += launches.counted_threads;
}

// Returns the sample of each function. Each counting thread enters its kernel once. A function has the sample of the
// kernel that calls the function. If several kernels call the function, nobody knows which kernel called it how often.
// Then the function gets the sample of all kernels together.
std::vector<Sample> samplesOf(const CountedModule &module) {
  std::vector<Sample> samples(module.module.graphs.size());
  Sample all;
  for (const abi::CountedLaunches &launches : module.launches)
    samples[launches.function].launched += launches.threads;
  for (size_t i = 0; i < samples.size(); ++i)
    if (samples[i].launched != 0) {
      samples[i].sampled = countsOf(module.module.graphs[i], module.counts).calls.value_or(0);
      all.launched += samples[i].launched;
      all.sampled += samples[i].sampled;
    }
  for (size_t i = 0; i < samples.size(); ++i)
    if (const Graph &graph = module.module.graphs[i]; !graph.is_kernel)
      samples[i] = graph.caller ? samples[*graph.caller] : all;
  return samples;
}

// Returns the counts of the edges with a counter, in the order of the edges.
std::vector<uint64_t> countersOf(const Graph &graph, const std::vector<uint64_t> &counts) {
  std::vector<uint64_t> own;
  for (const GraphEdge &edge : graph.edges)
    if (edge.counter != abi::kNoCounter)
      own.push_back(edge.counter < counts.size() ? counts[edge.counter] : 0);
  return own;
}

Graph withOwnCounters(Graph graph) {
  uint32_t next = 0;
  for (GraphEdge &edge : graph.edges)
    if (edge.counter != abi::kNoCounter)
      edge.counter = next++;
  return graph;
}

// Whether the groups of blocks tell the error of the kernel's counts. They do not if some launches were not counted at
// all.
bool isSampleOfBlocks(const CountedModule &module, uint64_t kernel) {
  constexpr auto kStrata = static_cast<uint32_t>(abi::CountMode::Strata);
  return std::ranges::all_of(module.launches, [&](const abi::CountedLaunches &launches) {
    return launches.function != kernel || (launches.mode == kStrata && launches.counted == launches.launches);
  });
}

// Returns a group for each bank. `kernel` is the function itself, or the kernel that calls the function.
std::vector<SampledGroup> groupsOf(const CountedModule &module, const Graph &graph, uint64_t kernel) {
  std::vector<SampledGroup> groups;
  for (const std::vector<uint64_t> &bank : module.banks)
    groups.push_back({countsOf(module.module.graphs[kernel], bank).calls.value_or(0), countersOf(graph, bank)});
  return groups;
}

void addGroups(const CountedModule &module, uint64_t number, Sum &sum) {
  const Graph &graph = module.module.graphs[number];
  const std::optional<uint64_t> kernel = graph.is_kernel ? std::optional(number) : graph.caller;
  sum.knows_error = sum.knows_error && kernel && isSampleOfBlocks(module, *kernel);
  if (!sum.knows_error)
    return;
  std::ranges::move(groupsOf(module, graph, *kernel), std::back_inserter(sum.groups));
}

void add(const CountedModule &module, Sums &sums) {
  const std::vector<Sample> samples = samplesOf(module);
  for (size_t number = 0; number < samples.size(); ++number) {
    const Graph &graph = module.module.graphs[number];
    const std::vector<uint64_t> counts = countersOf(graph, module.counts);
    Sum &sum = sums[{graph.symbol, graph.file, graph.hash}];
    if (sum.counts.size() != counts.size() || sum.graph.edges.size() != graph.edges.size())
      sum = {withOwnCounters(graph), std::vector<uint64_t>(counts.size()), {}, {}, {}, true};
    addGroups(module, number, sum);
    for (size_t i = 0; i < counts.size(); ++i)
      sum.counts[i] += counts[i];
    sum.sample.launched += samples[number].launched;
    sum.sample.sampled += samples[number].sampled;
    for (const abi::CountedLaunches &launches : module.launches)
      if (launches.function == number)
        add(launches, sum.launches);
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
    for (const CountedModule &module : MSL_TRY(readCountsFile(file)))
      add(module, sums);
  std::vector<CountedFunction> functions;
  for (auto &[key, sum] : sums) {
    FunctionCounts counts = countsOf(sum.graph, sum.counts, sum.sample);
    if (sum.knows_error)
      addErrors(sum.graph, sum.groups, sum.sample, counts);
    std::string name = demangle(sum.graph.symbol);
    functions.push_back(
        {std::move(sum.graph), std::move(name), std::move(counts), sum.sample, std::move(sum.launches)});
  }
  std::ranges::stable_sort(functions, {}, &CountedFunction::name);
  return functions;
}

} // namespace msleaks::analysis::inline counts
