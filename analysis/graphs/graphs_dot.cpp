#include "analysis/base/base_name.h"
#include "analysis/graphs/run_graphs.h"

#include <cmath>
#include <fmt/format.h>
#include <ostream>

namespace msleaks::analysis {
namespace {

std::string dotString(std::string_view text) {
  std::string to = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      to += '\\';
    to += c == '\n' ? ' ' : c;
  }
  return to + '"';
}

std::string countText(const std::optional<uint64_t> &count) { return count ? fmt::format("{}", *count) : "?"; }

void writeBlock(std::ostream &to, const CountedFunction &function, size_t index) {
  const GraphBlock &block = function.graph.blocks[index];
  std::string place;
  if (block.line != 0)
    place = fmt::format("{}:{}", baseName(block.file), block.line);
  // Lines of a label are separated by the two characters \n.
  const std::string label =
      dotString(fmt::format("block {}|{}|{}", index + 1, place, countText(function.counts.blocks[index])));
  std::string lines;
  for (const char c : label)
    lines += c == '|' ? std::string("\\n") : std::string(1, c);
  to << fmt::format("  b{} [label={}];\n", index + 1, lines);
}

// As wide as its number has digits.
void writeEdge(std::ostream &to, const CountedFunction &function, size_t index) {
  const GraphEdge &edge = function.graph.edges[index];
  const EdgeCount &count = function.counts.edges[index];
  const auto &from = function.counts.blocks[edge.from - 1];
  std::string label = countText(count.count);
  if (count.count && from && *from != 0)
    label += fmt::format(" {:.3g}%", 100.0 * static_cast<double>(*count.count) / static_cast<double>(*from));
  const double width = count.count ? 1 + std::log10(1.0 + static_cast<double>(*count.count)) / 2 : 1;
  const char *style = !count.count                           ? " color=red style=dotted"
                      : count.state == CountState::Estimated ? " style=dashed"
                                                             : "";
  const char *back = edge.to <= edge.from ? " constraint=false" : "";
  to << fmt::format("  b{} -> b{} [label={} penwidth={:.2f}{}{}];\n", edge.from, edge.to, dotString(label), width,
                    style, back);
}

} // namespace

void writeGraphsDot(std::ostream &to, std::span<const CountedFunction> functions) {
  for (const CountedFunction &function : functions) {
    to << fmt::format("digraph {} {{\n  label={};\n  node [shape=box];\n", dotString(function.graph.symbol),
                      dotString(fmt::format("{}, {} calls", function.name, countText(function.counts.calls))));
    for (size_t i = 0; i < function.graph.blocks.size(); ++i)
      writeBlock(to, function, i);
    for (size_t i = 0; i < function.graph.edges.size(); ++i)
      if (function.graph.edges[i].isInside())
        writeEdge(to, function, i);
    to << "}\n";
  }
}

} // namespace msleaks::analysis
