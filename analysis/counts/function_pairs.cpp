#include "analysis/counts/function_pairs.h"

#include "analysis/base/text.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace msleaks::analysis::inline counts {
namespace {

bool isSameGraph(const Graph &a, const Graph &b) {
  return a.hash == b.hash && a.blocks.size() == b.blocks.size() && a.edges.size() == b.edges.size();
}
bool isSameFile(const Graph &a, const Graph &b) { return a.file == b.file; }
bool isFileOfOneName(const Graph &a, const Graph &b) { return baseName(a.file) == baseName(b.file); }

using Test = bool (*)(const Graph &, const Graph &);
// The surest test comes first. The last test accepts any two functions with one symbol.
constexpr Test kTests[] = {
    [](const Graph &a, const Graph &b) { return isSameGraph(a, b) && isSameFile(a, b); },
    [](const Graph &a, const Graph &b) { return isSameGraph(a, b) && isFileOfOneName(a, b); },
    isSameGraph,
    isSameFile,
    isFileOfOneName,
    [](const Graph &, const Graph &) { return true; },
};

} // namespace

bool FunctionPair::isOneGraph() const { return first && second && isSameGraph(first->graph, second->graph); }

std::vector<FunctionPair> pairsOf(std::span<const CountedFunction> first, std::span<const CountedFunction> second) {
  std::vector<FunctionPair> pairs;
  std::unordered_map<std::string_view, std::vector<size_t>> by_symbol; // pairs without a second function
  for (const CountedFunction &function : first) {
    by_symbol[function.graph.symbol].push_back(pairs.size());
    pairs.push_back({&function, nullptr});
  }
  std::vector<const CountedFunction *> left;
  for (const CountedFunction &function : second)
    left.push_back(&function);
  for (const Test test : kTests)
    std::erase_if(left, [&](const CountedFunction *function) {
      const auto candidates = by_symbol.find(function->graph.symbol);
      if (candidates == by_symbol.end())
        return false;
      const auto match = std::ranges::find_if(
          candidates->second, [&](size_t pair) { return test(pairs[pair].first->graph, function->graph); });
      if (match == candidates->second.end())
        return false;
      pairs[*match].second = function;
      candidates->second.erase(match);
      return true;
    });
  for (const CountedFunction *function : left)
    pairs.push_back({nullptr, function});
  return pairs;
}

} // namespace msleaks::analysis::inline counts
