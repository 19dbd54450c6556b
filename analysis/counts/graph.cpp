#include "analysis/counts/graph.h"

#include "analysis/base/tables.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <optional>

namespace msleaks::analysis::inline counts {
namespace {

// The places of the parts of a table. The numbers have 64 bits, so that sums of hostile 32-bit numbers do not overflow.
struct Layout {
  uint64_t functions, blocks, edges, strings, end, arguments;
  explicit Layout(const abi::GraphHeader &header)
      : functions(header.header_bytes), blocks(functions + uint64_t{header.function_count} * header.function_bytes),
        edges(blocks + uint64_t{header.block_count} * header.block_bytes),
        strings(edges + uint64_t{header.edge_count} * header.edge_bytes), end(strings + header.strings_bytes),
        arguments((end + 7) / 8 * 8) {}
};

Result<void> check(const abi::GraphHeader &header, std::span<const std::byte> bytes) {
  if (header.magic != abi::kGraphMagic)
    return fail("no table of graphs begins here: its magic number is missing");
  if (header.version == 0 || header.version > abi::kGraphVersion)
    return fail(fmt::format("the table of graphs is of version {}, this msleaks knows {}: use the msleaks whose plugin "
                            "built the program",
                            header.version, abi::kGraphVersion));
  if (header.header_bytes < sizeof header || header.function_bytes < abi::kLeastFunctionBytes ||
      header.block_bytes < abi::kLeastBlockBytes || header.edge_bytes < sizeof(abi::GraphEdge) ||
      (header.argument_bytes != 0 && header.argument_bytes < sizeof(abi::GraphArgument)))
    return fail("the table of graphs is damaged: its header states impossible sizes");
  if (header.total_bytes > bytes.size())
    return fail(fmt::format("the table of graphs is cut off: it should have {} bytes, {} are there", header.total_bytes,
                            bytes.size()));
  const uint64_t end = Layout(header).arguments;
  if (header.total_bytes % 8 != 0 || end > header.total_bytes ||
      (header.argument_bytes != 0 ? (header.total_bytes - end) % header.argument_bytes : header.total_bytes - end) != 0)
    return fail("the table of graphs is damaged: its parts do not fit into its size");
  const auto *content = reinterpret_cast<const unsigned char *>(bytes.data()) + header.header_bytes;
  if (abi::fnv1a32(content, header.total_bytes - header.header_bytes) != header.checksum)
    return fail("the table of graphs is damaged: its checksum does not match");
  return {};
}

class GraphTableReader {
public:
  GraphTableReader(const abi::GraphHeader &header, std::span<const std::byte> bytes)
      : header_(header), bytes_(bytes), layout_(header),
        strings_({reinterpret_cast<const char *>(bytes.data()) + layout_.strings, header.strings_bytes}) {}

  std::optional<GraphModule> read() const {
    GraphModule module;
    module.counters = header_.counters;
    module.checksum = header_.checksum;
    if (!take(header_.source, module.source) || !take(header_.producer, module.producer) ||
        !take(header_.target, module.target))
      return std::nullopt;
    for (uint64_t i = 0; i < header_.function_count; ++i) {
      const auto row =
          grown<abi::GraphFunction>(layout_.functions + i * header_.function_bytes, header_.function_bytes);
      auto graph = readGraph(row);
      if (!graph || !addArguments(row, *graph))
        return std::nullopt;
      module.graphs.push_back(std::move(*graph));
    }
    const bool on_device = std::ranges::any_of(module.graphs, &Graph::is_kernel);
    for (Graph &graph : module.graphs)
      graph.on_device = on_device;
    return module;
  }

private:
  // Reads a row that may be shorter in older tables.
  template <class Row> Row grown(uint64_t offset, uint16_t row_bytes) const {
    Row row{};
    std::memcpy(&row, bytes_.data() + offset, std::min<size_t>(row_bytes, sizeof row));
    return row;
  }

  bool take(abi::StringOffset offset, std::string &text) const {
    const auto found = strings_.at(offset);
    text = found.value_or("");
    return found.has_value();
  }

  std::optional<Graph> readGraph(const abi::GraphFunction &row) const {
    Graph graph;
    graph.hash = row.hash;
    graph.line = row.line;
    graph.is_kernel = (row.flags & abi::kKernel) != 0;
    graph.counts_all = (row.flags & abi::kCountsAll) != 0;
    if (const uint32_t caller = row.flags >> abi::kCallerShift; caller != 0 && caller <= header_.function_count)
      graph.caller = caller - 1;
    const bool fits = row.block_count != 0 && uint64_t{row.first_block} + row.block_count <= header_.block_count &&
                      uint64_t{row.first_edge} + row.edge_count <= header_.edge_count;
    if (!fits || !take(row.name, graph.symbol) || !take(row.file, graph.file))
      return std::nullopt;
    for (uint64_t i = row.first_block; i < uint64_t{row.first_block} + row.block_count; ++i) {
      GraphBlock &block = graph.blocks.emplace_back();
      block.facts = grown<abi::GraphBlock>(layout_.blocks + i * header_.block_bytes, header_.block_bytes);
      block.line = block.facts.line;
      if (!take(block.facts.file, block.file) || !take(block.facts.text, block.text))
        return std::nullopt;
    }
    for (uint64_t i = row.first_edge; i < uint64_t{row.first_edge} + row.edge_count; ++i)
      if (!addEdge(copyRow<abi::GraphEdge>(bytes_, layout_.edges + i * header_.edge_bytes), graph))
        return std::nullopt;
    return graph;
  }

  bool addArguments(const abi::GraphFunction &row, Graph &graph) const {
    const uint64_t end =
        layout_.arguments + (uint64_t{row.first_argument} + row.argument_count) * header_.argument_bytes;
    if (row.argument_count != 0 && (header_.argument_bytes == 0 || end > header_.total_bytes))
      return false;
    for (uint64_t i = row.first_argument; i < uint64_t{row.first_argument} + row.argument_count; ++i)
      graph.arguments.push_back(copyRow<abi::GraphArgument>(bytes_, layout_.arguments + i * header_.argument_bytes));
    graph.uses_others = (row.flags & abi::kUsesOthers) != 0;
    return true;
  }

  bool addEdge(const abi::GraphEdge &row, Graph &graph) const {
    const bool is_known = row.kind <= abi::EdgeKind::Leave && row.from <= graph.blocks.size() &&
                          row.to <= graph.blocks.size() &&
                          (row.counter == abi::kNoCounter || row.counter < header_.counters);
    if (is_known)
      graph.edges.push_back(
          {row.from, row.to, row.ordinal, row.kind, (row.flags & abi::kUnknown) != 0, row.counter, row.value});
    return is_known;
  }

  const abi::GraphHeader &header_;
  std::span<const std::byte> bytes_;
  Layout layout_;
  StringTable strings_;
};

} // namespace

std::string nameOf(const GraphEdge &edge) {
  const std::string name = fmt::format("edge{}_{}", edge.from, edge.to);
  return edge.ordinal <= 1 ? name : fmt::format("{}.{}", name, edge.ordinal);
}

uint64_t instructionsOf(const GraphBlock &block) {
  const abi::GraphBlock &facts = block.facts;
  return uint64_t{facts.integers} + facts.floats + facts.loads + facts.stores + facts.calls + facts.branches +
         facts.others;
}

size_t countersOf(const Graph &graph) {
  const auto isCounted = [](const GraphEdge &edge) { return edge.counter != abi::kNoCounter; };
  return static_cast<size_t>(std::ranges::count_if(graph.edges, isCounted));
}

Result<GraphModule> readGraphs(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(abi::GraphHeader))
    return fail("the table of graphs is cut off within its header");
  const auto header = copyRow<abi::GraphHeader>(bytes, 0);
  MSL_TRY(check(header, bytes));
  auto module = GraphTableReader(header, bytes).read();
  if (!module)
    return fail("the table of graphs is damaged: a row points outside of it");
  return std::move(*module);
}

} // namespace msleaks::analysis::inline counts
