#include "analysis/counts/graphs_html.h"

#include "analysis/base/page_text.h"

#include "graphs_page.inc"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <ostream>

// The build bundles tools/report/src/graphs, and writes kGraphsPage. The title and the graphs replace its {{words}}:
//
//   <script type="application/json" id="contents">    runs, functions from the hottest on, sources
//   <script type="application/json" id="graph0"> …    a graph as `msleaks cfg --json` has it, parsed when it is shown

namespace msleaks::analysis::inline counts {
namespace {

using Json = nlohmann::ordered_json;

std::string textOf(const Json &json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

uint64_t heatOf(const FunctionPair &pair) {
  return std::max(pair.first ? instructionsRun(*pair.first) : 0, pair.second ? instructionsRun(*pair.second) : 0);
}

std::vector<FunctionPair> inOrder(std::vector<FunctionPair> pairs) {
  std::vector<std::pair<uint64_t, FunctionPair>> by_heat;
  for (const FunctionPair &pair : pairs)
    by_heat.emplace_back(heatOf(pair), pair);
  std::ranges::stable_sort(by_heat, std::greater(), [](const auto &entry) { return entry.first; });
  std::ranges::transform(by_heat, pairs.begin(), [](const auto &entry) { return entry.second; });
  return pairs;
}

class Page {
public:
  Page(const RunOfPage &run, const RunOfPage *against)
      : pairs_(inOrder(pairsOf(run.functions, against ? against->functions : std::span<const CountedFunction>()))) {
    runs_.push_back(run.name);
    if (against)
      runs_.push_back(against->name);
  }

  std::string title() const { return fmt::format("{} · msleaks cfg", fmt::join(runs_, " and ")); }

  void writeGraphs(std::ostream &to, std::optional<std::filesystem::file_time_type> since) const {
    size_t graphs = 0;
    Json functions = Json::array();
    for (const FunctionPair &pair : pairs_)
      functions.push_back(rowOf(pair, graphs));
    writeScript(to, "contents",
                textOf({{"runs", runs_}, {"functions", std::move(functions)}, {"sources", sources(since)}}));
    graphs = 0;
    for (const FunctionPair &pair : pairs_)
      for (const CountedFunction *function : {pair.first, pair.second})
        if (function)
          writeScript(to, fmt::format("graph{}", graphs++), graphJson(*function));
  }

private:
  static void writeScript(std::ostream &to, std::string_view id, std::string_view json) {
    to << "<script type=\"application/json\" id=\"" << id << "\">" << escapedForScript(json) << "</script>\n";
  }

  // Returns the function's row: for each run the number of its graph and the instructions that ran, or null if the run
  // lacks the function.
  Json rowOf(const FunctionPair &pair, size_t &graphs) const {
    const CountedFunction &any = pair.first ? *pair.first : *pair.second;
    Json numbers = Json::array(), instructions = Json::array();
    for (const CountedFunction *function : {pair.first, pair.second}) {
      numbers.push_back(function ? Json(graphs++) : Json());
      instructions.push_back(function ? Json(instructionsRun(*function)) : Json());
    }
    numbers.erase(numbers.begin() + static_cast<ptrdiff_t>(runs_.size()), numbers.end());
    instructions.erase(instructions.begin() + static_cast<ptrdiff_t>(runs_.size()), instructions.end());
    return {{"name", any.name},
            {"graphs", std::move(numbers)},
            {"instructions", std::move(instructions)},
            {"matched", pair.isOneGraph()}};
  }

  Json sources(std::optional<std::filesystem::file_time_type> since) const {
    LinesByFile wanted;
    for (const FunctionPair &pair : pairs_)
      for (const CountedFunction *function : {pair.first, pair.second})
        if (function)
          addLines(function->graph, wanted);
    return excerptsJson(wanted, since);
  }

  static void addLines(const Graph &graph, LinesByFile &wanted) {
    if (!graph.file.empty() && graph.line != 0)
      wanted[graph.file].insert(graph.line);
    for (const GraphBlock &block : graph.blocks)
      if (!block.file.empty() && block.line != 0)
        wanted[block.file].insert(block.line);
  }

  std::vector<std::string> runs_;
  std::vector<FunctionPair> pairs_;
};

} // namespace

Result<void> writeGraphsHtml(std::ostream &to, const RunOfPage &run, const RunOfPage *against,
                             std::optional<std::filesystem::file_time_type> since) {
  MSL_TRY(checkPage(kGraphsPage));
  const Page page(run, against);
  for (const std::string_view part : kGraphsPage)
    if (part == "{{title}}")
      to << escapedForHtml(page.title());
    else if (part == "{{graphs}}")
      page.writeGraphs(to, since);
    else
      to << part;
  return {};
}

} // namespace msleaks::analysis::inline counts
