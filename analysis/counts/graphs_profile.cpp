#include "analysis/counts/graphs_profile.h"

#include "analysis/base/text.h"

#include <array>
#include <fmt/format.h>

namespace msleaks::analysis::inline counts {
namespace {

using profiles::Profile;
using profiles::ProfiledFunction;

// The order is by name, as in a profile.
enum Counter : size_t { BlockVisits, EdgeVisits, Instructions };
constexpr std::array kNames = {"block-visits", "edge-count", "instructions"};
using Numbers = std::array<double, kNames.size()>;

struct Line {
  Numbers numbers{};
  std::string text;
};

// The first line of a block is the block itself. The next lines are its jumps:
//
//   one edge:     jmp 7
//   three edges:  jne 4 (the second jmp's)
//                 jmp 7
//                 jne 6 (the third's)
//                 jmp 9
//                 jmp b
//   none:         retq
class FunctionLines {
public:
  explicit FunctionLines(const CountedFunction &function) : function_(function) {
    const Graph &graph = function.graph;
    out_.resize(graph.blocks.size());
    for (size_t i = 0; i < graph.edges.size(); ++i)
      if (graph.edges[i].isInside())
        out_[graph.edges[i].from - 1].push_back(i);
    uint64_t address = 0;
    for (const auto &out : out_) {
      begins_.push_back(address);
      address += out.empty() ? 2 : 2 * out.size();
    }
  }

  std::vector<Line> lines() && {
    for (size_t block = 0; block < out_.size(); ++block) {
      addBlock(block);
      addJumps(out_[block]);
    }
    return std::move(lines_);
  }

private:
  void addBlock(size_t block) {
    const GraphBlock &known = function_.graph.blocks[block];
    Line line;
    line.numbers[BlockVisits] = static_cast<double>(function_.counts.blocks[block].value_or(0));
    line.numbers[Instructions] = static_cast<double>(instructionsRun(function_, block));
    const std::string place = known.line != 0 ? fmt::format(" {}:{}", baseName(known.file), known.line) : "";
    line.text = fmt::format("block {}{}, {} instructions", block + 1, place, instructionsOf(known));
    lines_.push_back(std::move(line));
  }

  void addJumps(const std::vector<size_t> &edges) {
    if (edges.empty())
      lines_.push_back({{}, "retq"});
    for (size_t i = 0; i < edges.size(); ++i) {
      if (i + 1 < edges.size())
        lines_.push_back({{}, fmt::format("jne {:x}", lines_.size() + 2)});
      const GraphEdge &edge = function_.graph.edges[edges[i]];
      Line line;
      line.numbers[EdgeVisits] = static_cast<double>(function_.counts.edges[edges[i]].count.value_or(0));
      line.text = fmt::format("jmp {:x} # {}", begins_[edge.to - 1], nameOf(edge));
      lines_.push_back(std::move(line));
    }
  }

  const CountedFunction &function_;
  std::vector<std::vector<size_t>> out_; // by block: the edges that leave it
  std::vector<uint64_t> begins_;         // by block: the address of its first line
  std::vector<Line> lines_;
};

double percent(double part, double whole) { return whole == 0 ? 0 : 100 * part / whole; }

Numbers sumOf(const std::vector<Line> &lines) {
  Numbers sum{};
  for (const Line &line : lines)
    for (size_t i = 0; i < sum.size(); ++i)
      sum[i] += line.numbers[i];
  return sum;
}

ProfiledFunction functionOf(std::vector<Line> lines, const Numbers &sum) {
  ProfiledFunction function;
  for (size_t i = 0; i < sum.size(); ++i)
    function.counters[kNames[i]] = sum[i]; // Later code changes the number to percent of the whole.
  for (size_t address = 0; address < lines.size(); ++address) {
    std::vector<double> shares;
    for (size_t i = 0; i < sum.size(); ++i)
      shares.push_back(percent(lines[address].numbers[i], sum[i]));
    function.lines.push_back({std::move(shares), address, std::move(lines[address].text)});
  }
  return function;
}

} // namespace

Profile profileOf(std::span<const CountedFunction> functions) {
  Profile profile;
  Numbers whole{};
  for (const CountedFunction &counted : functions) {
    auto lines = FunctionLines(counted).lines();
    const Numbers sum = sumOf(lines);
    if (sum[BlockVisits] == 0)
      continue;
    for (size_t i = 0; i < sum.size(); ++i)
      whole[i] += sum[i];
    // The file tells apart two functions with one name.
    const bool is_known = profile.functions.contains(counted.name);
    const std::string name = is_known ? fmt::format("{} ({})", counted.name, counted.graph.file) : counted.name;
    profile.functions[name] = functionOf(std::move(lines), sum);
  }
  for (size_t i = 0; i < whole.size(); ++i)
    profile.counters[kNames[i]] = static_cast<uint64_t>(whole[i]);
  for (auto &[name, function] : profile.functions)
    for (size_t i = 0; i < whole.size(); ++i) {
      double &counter = function.counters[kNames[i]];
      counter = percent(counter, whole[i]);
    }
  return profile;
}

} // namespace msleaks::analysis::inline counts
