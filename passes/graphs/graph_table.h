// Builds the bytes of a module's table of graphs (abi/graph_table.h).
#pragma once

#include "graphs/block_text.h"
#include "graphs/edge_graph.h"
#include "table_bytes.h"

#include <string>
#include <vector>

namespace llvm {
class LoopInfo;
} // namespace llvm

namespace msleaks::passes {

// The number of an edge's counter in the module, if the edge has a counter.
struct EdgeCount {
  uint32_t counter = abi::kNoCounter;
  uint8_t flags = 0; // abi::EdgeFlag
};

class GraphTable {
public:
  // `texts` prints the IR of blocks. Null: the table has no IR.
  GraphTable(std::string_view source, std::string_view target, BlockText *texts = nullptr);

  // Adds a function under the name of `named`. If the function is a copy, `named` is its original. `arguments` are the
  // arguments of a kernel.
  void add(const EdgeGraph &graph, const llvm::Function &named, llvm::ArrayRef<EdgeCount> counts,
           const llvm::LoopInfo &loops, uint32_t flags, llvm::ArrayRef<abi::GraphArgument> arguments = {});

  // Returns the table. `counters` is the number of counters of the module.
  std::string bytes(uint32_t counters) const;

private:
  abi::GraphBlock rowOf(const llvm::BasicBlock &block, const llvm::LoopInfo &loops);

  TableStrings strings_;
  std::vector<abi::GraphFunction> functions_;
  std::vector<abi::GraphBlock> blocks_;
  std::vector<abi::GraphEdge> edges_;
  std::vector<abi::GraphArgument> arguments_;
  abi::StringOffset source_, producer_, target_;
  BlockText *texts_;
};

} // namespace msleaks::passes
