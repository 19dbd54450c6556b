// The graph of a function whose edges are counted: its blocks and the edges between them, before counters are inserted.
// Blocks are numbered from 1 on, in reverse post-order, and unreachable blocks last. So an edge from a reachable block
// to the same or a lower number is the back edge of a loop.
//
//   entry:                    block 1     outside → 1           Enter
//     br %c, left, right                  1 → 2, 1 → 3          Branch, "edge1_2" and "edge1_3"
//   left:                     block 2
//     call @work()                        2 → outside           Leave: the call may not return
//     br right                            2 → 3
//   right:                    block 3
//     ret                                 3 → outside           Exit
#pragma once

#include "msleaks/abi/graph_table.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace llvm {
class BasicBlock;
class BlockFrequencyInfo;
class BranchProbabilityInfo;
class CallBase;
class Function;
} // namespace llvm

namespace msleaks::passes {

// The position for code that must run exactly when an edge is taken.
enum class EdgeSpot : uint8_t {
  None,
  End,     // at the end of the block where the edge begins
  Start,   // at the start of the block where the edge ends
  Between, // in a new block, which is made later
};

struct Edge {
  unsigned from = 0, to = 0; // block numbers; 0: outside
  unsigned successor = 0;    // number among the successors of `from`
  unsigned ordinal = 1;      // number among the edges between the same two blocks
  abi::EdgeKind kind = abi::EdgeKind::Branch;
  int64_t value = 0;   // value of a switch case
  uint64_t weight = 0; // how often the edge is expected to be taken
  EdgeSpot spot = EdgeSpot::None;
  bool splits = false; // a new block may be inserted between the two blocks
  bool countable() const { return spot != EdgeSpot::None; }
};

// Whether a call may fail to return to the function. On a device, each call returns, since a device has neither
// exceptions nor exit().
enum class Calls : uint8_t { MayNotComeBack, ComeBack };

class EdgeGraph {
public:
  EdgeGraph(llvm::Function &function, const llvm::BlockFrequencyInfo &frequencies,
            const llvm::BranchProbabilityInfo &probabilities, Calls calls = Calls::MayNotComeBack);

  // Changes the weights for a kernel. The edge Enter gets the weight 0, since entries are counted at almost no cost. An
  // edge of a branch directly to a return loses an eighth of its weight. So if both edges of the branch are equally
  // likely, this edge gets the counter.
  void weighAsKernel();

  llvm::ArrayRef<llvm::BasicBlock *> blocks() const { return blocks_; } // block n has the index n - 1
  llvm::ArrayRef<Edge> edges() const { return edges_; }                 // the first edge is Enter
  llvm::BasicBlock &block(unsigned number) const { return *blocks_[number - 1]; }

private:
  void number(llvm::BasicBlock &block);
  void addSuccessors(unsigned from, const llvm::BranchProbabilityInfo &probabilities, uint64_t frequency);
  void addWaysOut(unsigned from, uint64_t frequency, Calls calls);
  void add(Edge edge);
  EdgeSpot spotOf(const Edge &edge) const;

  llvm::SmallVector<llvm::BasicBlock *> blocks_;
  llvm::SmallVector<Edge> edges_;
  llvm::SmallVector<unsigned> incoming_; // number of edges into each block, by block number
  llvm::DenseMap<const llvm::BasicBlock *, unsigned> numbers_;
  llvm::DenseMap<std::pair<unsigned, unsigned>, unsigned> ordinals_;
};

// Whether the attributes of the call show that it may throw, not return, or return twice. If the callee calls longjmp
// or exit without such an attribute, the counts of the functions that are left are wrong by one.
bool mayNotComeBack(const llvm::CallBase &call);
// Whether the call certainly returns, and only once.
bool surelyComesBack(const llvm::CallBase &call);

} // namespace msleaks::passes
