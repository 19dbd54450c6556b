// Stores the tree of this process's call paths. A node is a call, and its parent is the call around it (abi::PathNode).
// The nodes are in the arena, where the collector reads them. The hash table that finds a node is in the runtime's own
// memory. Any thread, also in a signal handler, reads it without a lock.
#pragma once

#include "arena.h"
#include "coarse_calls.h"
#include "pause.h"

#include <atomic>

namespace msleaks::runtime {

// The key of a node among the children of its parent is a return address, or another number with one of these bits.
inline constexpr uint64_t kSiteKey = uint64_t{1} << 62, kPythonKey = uint64_t{1} << 61,
                          kPythonLineKey = uint64_t{1} << 60, kJoinKey = uint64_t{1} << 59,
                          kKindsOfKey = kSiteKey | kPythonKey | kPythonLineKey | kJoinKey;
constexpr uint64_t keyOfSite(uint32_t site) { return kSiteKey | site; }
constexpr bool isAddress(uint64_t key) { return (key & kKindsOfKey) == 0; }

class PathTree {
public:
  // Returns the child of `parent` with this key, or 0 if there is no such node yet.
  uint32_t find(uint32_t parent, uint64_t key) const noexcept {
    if (const FirstChild *first = rowAt(parent)) {
      const uint32_t node = first->node.load(std::memory_order_acquire);
      if (node != 0 && first->key.load(std::memory_order_relaxed) == key)
        return node;
    }
    const Table &table = *table_.load(std::memory_order_acquire);
    for (uint32_t slot = slotOf(table, parent, key);; slot = (slot + 1) & table.mask) {
      const Entry &entry = table[slot];
      const uint32_t node = entry.node.load(std::memory_order_acquire);
      if (node == 0 || (entry.key.load(std::memory_order_relaxed) == key && entry.parent == parent))
        return node;
    }
  }

  // Returns the node that keepGuess stored last in the entry for this hash of a path; 0 = none. Other paths may use the
  // same entry, so the caller must check the node.
  uint32_t guess(uint64_t path) const noexcept { return guesses_[guessOf(path)].load(std::memory_order_acquire); }
  void keepGuess(uint64_t path, uint32_t node) noexcept {
    guesses_[guessOf(path)].store(node, std::memory_order_release);
  }

  // Returns the node of a number that find, guess or add returned.
  const abi::PathNode &nodeAt(uint32_t number) const noexcept {
    return blocks_[number / abi::kPathBlockNodes][number % abi::kPathBlockNodes];
  }

  // Whether a call at this address, inside the call of a node, has the same node (sharesNode). Needs no lock.
  bool isPartOf(uint32_t node, uint64_t address) const noexcept;
  // The same for a call in this image (numberOf; 0 = not known).
  bool isPartOfImage(uint32_t node, uint32_t image) const noexcept {
    const Inner outer = innerOf(node);
    return outer != Inner::Apart && image == nodeAt(node).image && sharesNode(outer, kindOf(*arena_, image));
  }

  // Whether this call or a call around it evaluates Python code.
  bool evaluates(uint32_t node) const noexcept {
    const FirstChild *row = rowAt(node);
    return row != nullptr && row->evaluates.load(std::memory_order_relaxed);
  }
  // Whether the call itself was made by the function that evaluates Python code.
  bool isEvaluation(const abi::PathNode &) const noexcept;

  // If the tree has this many nodes, new calls in libraries have the node of the call around them.
  static constexpr uint32_t kScarce = abi::kMaxPathBlocks / 4 * 3 * abi::kPathBlockNodes;

  // Whether no new node is made now, since a recent request for room failed. If so, counts this path as refused.
  bool refuses() noexcept;

  // Returns the child of `parent` with this key, and makes it if it does not exist. If there is no room, counts a
  // refused path and returns 0. `image` is the image's number (numberOf), or a constant such as kImageOfSite. Call with
  // signals blocked and Process::lock held.
  uint32_t add(Arena &arena, uint32_t parent, uint64_t key, uint32_t image) noexcept;
  // Makes find() return this node for one more key. Call with signals blocked and Process::lock held.
  void addKey(uint32_t parent, uint64_t key, uint32_t node) noexcept;

  // Reserves room for about four thousand nodes. Call with Process::lock held.
  void reserve(Arena &arena) noexcept;

  // Makes find() ignore the calls in this image, since another image may be loaded at the same addresses. Call with
  // Process::lock held.
  void retire(uint32_t image) noexcept;

private:
  // The fields of an entry are set once, `node` last. After that only the key changes, when the image of the call is
  // unloaded or loaded again.
  struct Entry {
    std::atomic<uint64_t> key;
    uint32_t parent;
    std::atomic<uint32_t> node; // 0 = the entry is empty
  };
  // The first child of a node. The index of this struct in its array is the node's number. The nodes of a new path have
  // consecutive numbers, so their structs are neighbours in memory. A walk along this path reads one cache line for
  // four calls.
  struct FirstChild {
    std::atomic<uint64_t> key;
    std::atomic<uint32_t> node;  // 0 = no child yet
    std::atomic<Inner> inner;    // of the parent
    std::atomic<bool> evaluates; // of the parent
  };
  // A hash table. Its entries follow this struct in memory.
  struct Table {
    uint32_t mask; // number of slots - 1
    uint32_t used;
    Entry &operator[](uint32_t slot) noexcept { return reinterpret_cast<Entry *>(this + 1)[slot]; }
    const Entry &operator[](uint32_t slot) const noexcept { return reinterpret_cast<const Entry *>(this + 1)[slot]; }
  };

  static uint32_t slotOf(const Table &table, uint32_t parent, uint64_t key) noexcept {
    return static_cast<uint32_t>((key ^ parent * 0xff51'afd7'ed55'8ccd) * 0x9e37'79b9'7f4a'7c15 >> 32) & table.mask;
  }
  static uint32_t guessOf(uint64_t path) noexcept { return static_cast<uint32_t>(path >> 32) % kGuesses; }
  static Table *makeTable(uint32_t slots) noexcept;
  static void put(Table &table, uint64_t key, uint32_t parent, uint32_t node) noexcept;

  bool makeRoom(uint32_t nodes) noexcept;
  uint32_t findRetired(uint32_t parent, uint64_t key, uint32_t image) noexcept;
  // Returns the row of a node, or null if it has none.
  const FirstChild *rowAt(uint32_t node) const noexcept {
    const FirstChild *rows = first_children_[node / abi::kPathBlockNodes].load(std::memory_order_acquire);
    return rows != nullptr ? rows + node % abi::kPathBlockNodes : nullptr;
  }
  FirstChild *rowOf(uint32_t node) noexcept;
  uint32_t findKnown(uint32_t parent, uint64_t key, uint32_t image) noexcept;
  uint32_t appendChild(Arena &arena, const abi::PathNode &node, uint64_t key, Inner inner) noexcept;
  void setFirstChild(uint32_t parent, uint64_t key, uint32_t node) noexcept;
  Inner innerOf(uint32_t node) const noexcept {
    const FirstChild *row = rowAt(node);
    return row != nullptr ? row->inner.load(std::memory_order_relaxed) : Inner::Apart;
  }
  Inner innerOfNew(uint32_t parent, uint64_t key, uint32_t image) const noexcept;
  template <class Row> void retireOf(uint32_t image, Row &row) const noexcept;
  uint32_t append(Arena &arena, const abi::PathNode &node) noexcept;

  friend PathTree *pathTreeOf(Arena &arena) noexcept;
  std::atomic<Table *> table_;
  const Arena *arena_;       // the arena with the nodes
  abi::ArenaHeader *header_; // its header
  Pause pause_;
  abi::PathNode *blocks_[abi::kMaxPathBlocks];
  // Maps the hash of a path to the path's innermost node. This array fits into a processor's cache. The hash table of a
  // large program does not.
  static constexpr uint32_t kGuesses = 1u << 13;
  std::atomic<uint32_t> guesses_[kGuesses];
  std::atomic<FirstChild *> first_children_[abi::kMaxPathBlocks]; // indexed by the parent's block; null = none, or no
                                                                  // room
};

// Returns the number of the image that contains this address, without a lock. If the number is not known for certain,
// returns 0. In that case the caller must ask the loader.
uint32_t knownImageAt(const Arena &arena, uint64_t address) noexcept;

// Returns the tree of this process, and makes it if necessary. Returns null if there is no room. Call with signals
// blocked and Process::lock held.
PathTree *pathTreeOf(Arena &arena) noexcept;

// Returns the tree if the process still has this generation. Returns null in a child that a signal handler has forked
// since `generation` was read.
inline PathTree *treeOf(uint64_t generation) noexcept {
  PathTree *tree = __atomic_load_n(&__msl_process.paths, __ATOMIC_ACQUIRE);
  return __atomic_load_n(&__msl_process.state, __ATOMIC_RELAXED) == generation ? tree : nullptr;
}

} // namespace msleaks::runtime
