// Reads the graphs of a module's functions (abi/graph_table.h). The bytes may be damaged or hostile.
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
  std::string file; // file of the block's first line; empty: not known
  uint32_t line = 0;
  std::string text;        // the block's instructions in IR; empty: not known
  abi::GraphBlock facts{}; // numbers of instructions by class and of bytes, depth
};

// An edge of the graph. Blocks are numbered from 1. Number 0 is the outside of the function.
struct GraphEdge {
  uint32_t from = 0, to = 0;
  uint32_t ordinal = 1;
  abi::EdgeKind kind{};
  bool is_unknown = false;            // the edge can have no counter, and its count cannot be computed
  uint32_t counter = abi::kNoCounter; // number of the counter in the module
  int64_t value = 0;                  // of a Switch edge
  // Whether the edge leads from a block to a block. Enter, Exit and Leave edges do not.
  bool isInside() const { return from != 0 && to != 0; }
};

struct Graph {
  std::string symbol; // the linkage name
  std::string file;
  uint32_t line = 0;
  uint64_t hash = 0;
  bool is_kernel = false, counts_all = false;
  bool on_device = false;         // the function's module has kernels
  std::optional<size_t> caller;   // the only kernel of the module that calls the function
  std::vector<GraphBlock> blocks; // block n is at n - 1
  std::vector<GraphEdge> edges;
  std::vector<abi::GraphArgument> arguments; // all arguments of a kernel; empty: not known
  bool uses_others = false;                  // the kernel may also use memory to which no argument refers
};

// Returns a name like "edge2_5". The second edge between the same two blocks is "edge2_5.2".
std::string nameOf(const GraphEdge &edge);
uint64_t instructionsOf(const GraphBlock &block);
// Returns the number of edges with a counter of their own, including Enter, Exit and Leave edges.
size_t countersOf(const Graph &graph);

// The graphs of one module and the texts that describe the module.
struct GraphModule {
  std::string source, producer, target;
  uint32_t counters = 0;
  uint32_t checksum = 0; // the checksum in the module's table
  std::vector<Graph> graphs;
};

// Reads the table at the front of `bytes`. BadInput: the table is damaged, or has an unknown version.
Result<GraphModule> readGraphs(std::span<const std::byte> bytes);

} // namespace msleaks::analysis::inline counts
