// Fuzzes the readers of graph tables and of files with counts. The first byte chooses whether the input is a file, a
// table, or a table whose sizes and checksum are corrected. With the corrections, the fuzzer also tests the reading of
// the rows.
#include "analysis/counts/counts_reader.h"
#include "analysis/counts/edge_counts.h"
#include "analysis/counts/run_graphs.h"

#include "../unit/graphs/table_bytes.h"

#include <algorithm>
#include <sstream>

namespace msleaks {
namespace {

std::string repaired(std::string table) {
  abi::GraphHeader header;
  if (table.size() < sizeof header)
    return table;
  table.resize(table.size() & ~size_t{7});
  std::memcpy(&header, table.data(), sizeof header);
  header.magic = abi::kGraphMagic;
  header.version = abi::kGraphVersion;
  header.header_bytes = sizeof header;
  header.total_bytes = static_cast<uint32_t>(table.size());
  header.counters %= 16;
  header.function_count %= 4;
  header.block_count %= 8;
  header.edge_count %= 16;
  header.function_bytes = sizeof(abi::GraphFunction);
  header.block_bytes = sizeof(abi::GraphBlock);
  header.edge_bytes = sizeof(abi::GraphEdge);
  const uint64_t parts = sizeof header + header.function_count * sizeof(abi::GraphFunction) +
                         header.block_count * sizeof(abi::GraphBlock) + header.edge_count * sizeof(abi::GraphEdge);
  // The rest of the table becomes strings, followed by up to seven rows of arguments.
  const uint64_t left = table.size() > parts ? table.size() - parts : 0;
  const uint64_t arguments = std::min<uint64_t>(header.argument_bytes % 8, left / sizeof(abi::GraphArgument));
  header.argument_bytes = sizeof(abi::GraphArgument);
  header.strings_bytes = static_cast<uint32_t>(left - arguments * sizeof(abi::GraphArgument));
  const auto *content = reinterpret_cast<const unsigned char *>(table.data()) + sizeof header;
  header.checksum = abi::fnv1a32(content, table.size() - sizeof header);
  std::memcpy(table.data(), &header, sizeof header);
  return table;
}

void show(std::vector<analysis::CountedModule> modules) {
  for (analysis::CountedModule &module : modules) {
    std::vector<analysis::CountedFunction> functions;
    for (analysis::Graph &graph : module.module.graphs) {
      auto counts = analysis::countsOf(graph, module.counts);
      functions.push_back({std::move(graph), "function", std::move(counts), {}, {}});
    }
    std::ostringstream to;
    analysis::writeGraphsJson(to, functions);
    analysis::writeGraphsDot(to, functions);
    analysis::writeGraphsText(to, functions);
  }
}

} // namespace
} // namespace msleaks

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace msleaks;
  if (size == 0)
    return 0;
  std::string bytes(reinterpret_cast<const char *>(data + 1), size - 1);
  if (data[0] % 3 != 0) {
    const std::string table = data[0] % 3 == 1 ? bytes : repaired(bytes);
    bytes = test::countsFileOf(test::recordOf(abi::CountsKind::Unit, 1, table) +
                               test::recordOf(abi::CountsKind::Counters, 1, std::string(8 * (data[0] % 16), '\1')));
  }
  if (auto modules = analysis::readCounts(std::as_bytes(std::span(bytes))))
    show(std::move(*modules));
  return 0;
}
