// Graphs of functions as their module describes them (abi/graph_table.h), read from bytes that nobody vouches for.
#pragma once

#include "analysis/base/result.h"
#include "msleaks/abi/graph_table.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace msleaks::analysis::inline counts {

struct GraphBlock {
  std::string file; // file of its first line; empty: not known
  uint32_t line = 0;
  std::string text;        // its instructions in IR; empty: not known
  abi::GraphBlock facts{}; // instructions by class, bytes, depth
};

// Blocks are numbered from 1; 0 is the outside.
struct GraphEdge {
  uint32_t from = 0, to = 0;
  uint32_t ordinal = 1;
  abi::EdgeKind kind{};
  bool is_unknown = false;            // it can have no counter, and does not follow from others
  uint32_t counter = abi::kNoCounter; // of the module
  int64_t value = 0;                  // of a case
  // Between blocks of the function; Enter, Exit and Leave are none.
  bool isInside() const { return from != 0 && to != 0; }
};

struct Graph {
  std::string symbol; // linkage name
  std::string file;
  uint32_t line = 0;
  uint64_t hash = 0;
  bool is_kernel = false, counts_all = false;
  bool on_device = false;         // its module has kernels
  std::optional<size_t> caller;   // the only kernel of the module that calls it
  std::vector<GraphBlock> blocks; // block n is the (n - 1)th
  std::vector<GraphEdge> edges;
  std::vector<abi::GraphArgument> arguments; // of a kernel, all of them; or none are known
  bool uses_others = false;                  // it may use memory that none of them is the address of
};

// "edge2_5", "edge2_5.2" of the second one between the two.
std::string nameOf(const GraphEdge &edge);
uint64_t instructionsOf(const GraphBlock &block);
// Its edges that have one of their own, the way into it and out of it among them.
size_t countersOf(const Graph &graph);

// The graphs of one module.
struct GraphModule {
  std::string source, producer, target;
  uint32_t counters = 0;
  uint32_t checksum = 0; // as its table says
  std::vector<Graph> graphs;
};

// The table at the front of `bytes`. BadInput: it is damaged, or of a kind that we do not know.
Result<GraphModule> readGraphs(std::span<const std::byte> bytes);

} // namespace msleaks::analysis::inline counts
