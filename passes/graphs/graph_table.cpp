#include "graphs/graph_table.h"

#include "compat.h"
#include "graphs/block_facts.h"
#include "source_place.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Function.h"

using namespace llvm;

namespace msleaks::passes {
namespace {

// Returns a hash of the opcodes and the edges (with the values of switch cases). Names, lines and other constants are
// not hashed. Opcodes are hashed by name, since LLVM versions number them differently.
uint64_t hashOf(const EdgeGraph &graph) {
  std::string text;
  for (const BasicBlock *block : graph.blocks()) {
    for (const Instruction &instruction : *block)
      if (!isa<DbgInfoIntrinsic>(instruction))
        text += (Twine(instruction.getOpcodeName()) + " ").str();
    text += '\n';
  }
  for (const Edge &edge : graph.edges())
    for (const int64_t part : {int64_t{edge.from}, int64_t{edge.to}, static_cast<int64_t>(edge.kind), edge.value})
      text += std::to_string(part) + ' ';
  return passes::hashOf(StringRef(text));
}

// Returns the location of the block's first instruction that has a line, or null.
const DILocation *lineOf(const BasicBlock &block) {
  for (const Instruction &instruction : block)
    if (const DILocation *location = instruction.getDebugLoc().get(); location && location->getLine() != 0)
      return location;
  return nullptr;
}

} // namespace

GraphTable::GraphTable(std::string_view source, std::string_view target, BlockText *texts)
    : source_(strings_.intern(source)), producer_(strings_.intern(kProducer)), target_(strings_.intern(target)),
      texts_(texts) {}

abi::GraphBlock GraphTable::rowOf(const BasicBlock &block, const LoopInfo &loops) {
  abi::GraphBlock row{};
  if (const DILocation *location = lineOf(block)) {
    row.file = strings_.intern(placeOf(*location).file);
    row.line = location->getLine();
  }
  row.depth = loops.getLoopDepth(&block);
  addFacts(block, row);
  if (texts_)
    row.text = strings_.intern(texts_->of(block));
  return row;
}

void GraphTable::add(const EdgeGraph &graph, const Function &named, ArrayRef<EdgeCount> counts, const LoopInfo &loops,
                     uint32_t flags, ArrayRef<abi::GraphArgument> arguments) {
  abi::GraphFunction row{};
  row.hash = hashOf(graph);
  row.name = strings_.intern(plainName(named));
  row.file = strings_.intern(placeOf(named).file);
  row.line = named.getSubprogram() ? named.getSubprogram()->getLine() : 0;
  row.flags = flags;
  row.first_block = static_cast<uint32_t>(blocks_.size());
  row.block_count = static_cast<uint32_t>(graph.blocks().size());
  row.first_edge = static_cast<uint32_t>(edges_.size());
  row.edge_count = static_cast<uint32_t>(graph.edges().size());
  row.first_argument = static_cast<uint32_t>(arguments_.size());
  row.argument_count = static_cast<uint32_t>(arguments.size());
  functions_.push_back(row);
  arguments_.insert(arguments_.end(), arguments.begin(), arguments.end());
  for (const BasicBlock *block : graph.blocks())
    blocks_.push_back(rowOf(*block, loops));
  for (const auto &[edge, count] : zip_equal(graph.edges(), counts))
    edges_.push_back(
        {edge.from, edge.to, count.counter, static_cast<uint16_t>(edge.ordinal), edge.kind, count.flags, edge.value});
}

std::string GraphTable::bytes(uint32_t counters) const {
  std::string rows;
  append(rows, functions_.data(), functions_.size());
  append(rows, blocks_.data(), blocks_.size());
  append(rows, edges_.data(), edges_.size());

  abi::GraphHeader header{};
  header.magic = abi::kGraphMagic;
  header.version = abi::kGraphVersion;
  header.counters = counters;
  header.function_count = static_cast<uint32_t>(functions_.size());
  header.block_count = static_cast<uint32_t>(blocks_.size());
  header.edge_count = static_cast<uint32_t>(edges_.size());
  header.function_bytes = sizeof(abi::GraphFunction);
  header.block_bytes = sizeof(abi::GraphBlock);
  header.edge_bytes = sizeof(abi::GraphEdge);
  header.argument_bytes = sizeof(abi::GraphArgument);
  header.source = source_;
  header.producer = producer_;
  header.target = target_;
  std::string behind;
  append(behind, arguments_.data(), arguments_.size());
  return tableOf(header, std::move(rows), strings_, behind);
}

} // namespace msleaks::passes
