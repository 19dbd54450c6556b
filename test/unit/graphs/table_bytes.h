// Builds graph tables as a module contains them, and files of counts as a process writes them.
#pragma once

#include "msleaks/abi/counts_file.h"
#include "msleaks/abi/graph_table.h"

#include <cstring>
#include <string>
#include <vector>

namespace msleaks::test {

template <class T> std::string rawOf(const T &value) { return {reinterpret_cast<const char *>(&value), sizeof value}; }

// Returns a table with one function, "work". Its only basic block has an edge back to itself. Counter 0 counts the
// entries, and counter 1 counts the edge back.
inline std::string tableOf(uint32_t counters = 2, uint16_t version = abi::kGraphVersion,
                           const std::vector<abi::GraphArgument> &arguments = {},
                           uint16_t function_bytes = sizeof(abi::GraphFunction),
                           uint16_t block_bytes = sizeof(abi::GraphBlock)) {
  const std::string strings = std::string("\0work\0/src/work.c\0ret void\0", 27);
  abi::GraphFunction function{};
  function.hash = 0x1234;
  function.name = 1;
  function.file = 6;
  function.line = 3;
  function.block_count = 1;
  function.edge_count = 3;
  abi::GraphBlock block{};
  block.file = 6;
  block.line = 4;
  block.floats = 2;
  block.text = 18;
  function.argument_count = static_cast<uint32_t>(arguments.size());
  std::string body = rawOf(function).substr(0, function_bytes) + rawOf(block).substr(0, block_bytes);
  for (const abi::GraphEdge &edge :
       {abi::GraphEdge{0, 1, 0, 1, abi::EdgeKind::Enter, 0, 0}, abi::GraphEdge{1, 1, 1, 1, abi::EdgeKind::Branch, 0, 0},
        abi::GraphEdge{1, 0, abi::kNoCounter, 1, abi::EdgeKind::Exit, 0, 0}})
    body += rawOf(edge);
  body += strings;
  body.resize((body.size() + 7) / 8 * 8);
  for (const abi::GraphArgument &argument : arguments)
    body += rawOf(argument);
  abi::GraphHeader header{};
  header.magic = abi::kGraphMagic;
  header.version = version;
  header.header_bytes = sizeof header;
  header.total_bytes = static_cast<uint32_t>(sizeof header + body.size());
  header.counters = counters;
  header.function_count = header.block_count = 1;
  header.edge_count = 3;
  header.function_bytes = function_bytes;
  header.block_bytes = block_bytes;
  header.edge_bytes = sizeof(abi::GraphEdge);
  header.argument_bytes = arguments.empty() ? 0 : sizeof(abi::GraphArgument);
  header.strings_bytes = static_cast<uint32_t>(strings.size());
  header.checksum = abi::fnv1a32(reinterpret_cast<const unsigned char *>(body.data()), body.size());
  return rawOf(header) + body;
}

inline std::string recordOf(abi::CountsKind kind, uint32_t unit, const std::string &body, uint32_t checksum = 0) {
  const struct {
    uint32_t magic;
    abi::CountsKind kind;
    uint32_t unit, checksum;
    uint64_t bytes;
  } record{abi::CountsRecord::kMagic, kind, unit, checksum, body.size()};
  return rawOf(record) + body;
}

// Returns a file of counts with one slab (a part of the file with records).
inline std::string countsFileOf(const std::string &records, uint32_t version = abi::kCountsVersion) {
  abi::CountsHeader header{};
  header.magic = abi::CountsHeader::kMagic;
  header.version = version;
  header.header_bytes = abi::kCountsHeaderBytes;
  std::string bytes = rawOf(header);
  bytes.resize(abi::kCountsHeaderBytes);
  const abi::CountsSlab slab{4096};
  bytes += rawOf(slab) + records;
  bytes.resize(abi::kCountsHeaderBytes + 4096);
  return bytes;
}

} // namespace msleaks::test
