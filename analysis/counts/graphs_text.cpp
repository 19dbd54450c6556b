#include "analysis/base/text.h"
#include "analysis/counts/run_graphs.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <ostream>

namespace msleaks::analysis::inline counts {
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
  // The two characters \n separate the lines of a label.
  const std::string label =
      dotString(fmt::format("block {}|{}|{}", index + 1, place, countText(function.counts.blocks[index])));
  std::string lines;
  for (const char c : label)
    lines += c == '|' ? std::string("\\n") : std::string(1, c);
  to << fmt::format("  b{} [label={}];\n", index + 1, lines);
}

// Draws the edge wider if its count has more digits.
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

namespace {

struct Row {
  const CountedFunction *function;
  uint64_t instructions; // number of instructions that ran
  size_t hottest;        // index of the block in which most instructions ran
};

Row rowOf(const CountedFunction &function) {
  Row row{&function, 0, 0};
  uint64_t most = 0;
  for (size_t i = 0; i < function.graph.blocks.size(); ++i) {
    const uint64_t ran = instructionsRun(function, i);
    row.instructions += ran;
    if (ran > most) {
      most = ran;
      row.hottest = i;
    }
  }
  return row;
}

// Says how much smaller the graphs are than graphs with one node for each instruction, which other models of programs
// use.
std::string sizeOf(std::span<const CountedFunction> functions) {
  uint64_t blocks = 0, edges = 0, counters = 0, instructions = 0;
  for (const CountedFunction &function : functions) {
    blocks += function.graph.blocks.size();
    edges += static_cast<uint64_t>(std::ranges::count_if(function.graph.edges, &GraphEdge::isInside));
    counters += countersOf(function.graph);
    for (const GraphBlock &block : function.graph.blocks)
      instructions += instructionsOf(block);
  }
  const double ratio = blocks == 0 ? 0 : static_cast<double>(instructions) / static_cast<double>(blocks);
  return fmt::format("{} blocks, {} edges, {} counters; a graph of instructions has {} nodes, {:.1f} times as many",
                     blocks, edges, counters, instructions, ratio);
}

} // namespace

void writeGraphsText(std::ostream &to, std::span<const CountedFunction> functions) {
  constexpr size_t kMostRows = 40;
  std::vector<Row> rows;
  for (const CountedFunction &function : functions)
    rows.push_back(rowOf(function));
  std::ranges::stable_sort(rows, std::greater(), &Row::instructions);
  const auto never = std::ranges::find(rows, 0u, &Row::instructions);
  const auto ran = static_cast<size_t>(never - rows.begin());
  to << fmt::format("{:>16} {:>12} {:>7} {:>7}  {:<24} {}\n", "instructions", "calls", "blocks", "edges",
                    "most of them at", "function");
  for (const Row &row : std::span(rows).first(std::min(ran, kMostRows))) {
    const CountedFunction &function = *row.function;
    const GraphBlock &hottest = function.graph.blocks[row.hottest];
    const auto edges = std::ranges::count_if(function.graph.edges, &GraphEdge::isInside);
    to << fmt::format("{:>16} {:>12} {:>7} {:>7}  {:<24} {}\n", row.instructions, function.counts.calls.value_or(0),
                      function.graph.blocks.size(), edges, fmt::format("{}:{}", baseName(hottest.file), hottest.line),
                      function.name);
  }
  to << fmt::format("{} functions counted, {} ran", rows.size(), ran);
  if (ran > kMostRows)
    to << fmt::format(", {} shown", kMostRows);
  to << '\n' << sizeOf(functions) << '\n';
}

} // namespace msleaks::analysis::inline counts
