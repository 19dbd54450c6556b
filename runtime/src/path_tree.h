// The paths of this process as a tree: a node is a call, its parent the call around it (abi::PathNode). The nodes lie
// in the arena, for the collector. A table in memory of our own finds them: any thread, also in a signal handler, reads
// it without a lock.
#pragma once

#include "arena.h"
#include "pause.h"

#include <atomic>

namespace msleaks::runtime {

// The key of a node within its parent: a return address, or a site number.
inline constexpr uint64_t kSiteKey = uint64_t{1} << 62;
constexpr uint64_t keyOfSite(uint32_t site) { return kSiteKey | site; }

class PathTree {
public:
  // The child of `parent` with this key; 0 = it has no number yet.
  uint32_t find(uint32_t parent, uint64_t key) const noexcept {
    if (const FirstChild *row = first_children_[parent / abi::kPathBlockNodes].load(std::memory_order_acquire)) {
      const FirstChild &first = row[parent % abi::kPathBlockNodes];
      const uint32_t node = first.node.load(std::memory_order_acquire);
      if (node != 0 && first.key.load(std::memory_order_relaxed) == key)
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

  // What keepGuess was told last for a path with this hash, or one of a few others; 0 = nothing. `path`: the hash.
  uint32_t guess(uint64_t path) const noexcept { return guesses_[guessOf(path)].load(std::memory_order_acquire); }
  void keepGuess(uint64_t path, uint32_t node) noexcept {
    guesses_[guessOf(path)].store(node, std::memory_order_release);
  }

  // Of a number that find, guess or add said.
  const abi::PathNode &nodeAt(uint32_t number) const noexcept {
    return blocks_[number / abi::kPathBlockNodes][number % abi::kPathBlockNodes];
  }

  // There was no room a moment ago: no new path for now. It counts as refused.
  bool refuses() noexcept;

  // The child of `parent` with this key, made when there is none; 0 = there is no room, which is counted. `image`: its
  // number (numberOf), or kImageOfSite. With signals blocked and Process::lock held.
  uint32_t add(Arena &arena, uint32_t parent, uint64_t key, uint32_t image) noexcept;

  // Takes room for some thousand nodes. With Process::lock held.
  void reserve(Arena &arena) noexcept;

  // Calls in this image are no longer found: another one may be loaded to its place. With Process::lock held.
  void retire(uint32_t image) noexcept;

private:
  // An entry is filled once, `node` last. Only its key changes, when its image goes and comes back.
  struct Entry {
    std::atomic<uint64_t> key;
    uint32_t parent;
    std::atomic<uint32_t> node; // 0 = empty
  };
  // A new path gets numbers in a row, so the first children of its nodes lie side by side. To follow it again costs a
  // cache line for four calls instead of one for each.
  struct FirstChild {
    std::atomic<uint64_t> key;
    std::atomic<uint32_t> node; // 0 = none
  };
  // Its entries follow.
  struct Table {
    uint32_t mask; // of slots
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
  void setFirstChild(uint32_t parent, uint64_t key, uint32_t node) noexcept;
  template <class Row> void retireOf(uint32_t image, Row &row) const noexcept;
  uint32_t append(Arena &arena, const abi::PathNode &node) noexcept;

  friend PathTree *pathTreeOf(Arena &arena) noexcept;
  std::atomic<Table *> table_;
  abi::ArenaHeader *header_; // of the arena with the nodes
  Pause pause_;
  abi::PathNode *blocks_[abi::kMaxPathBlocks];
  // By hash of a path, its innermost node. It fits a processor's cache, which the table of a large program does not.
  static constexpr uint32_t kGuesses = 1u << 13;
  std::atomic<uint32_t> guesses_[kGuesses];
  std::atomic<FirstChild *> first_children_[abi::kMaxPathBlocks]; // by number of the parent; null = no room
};

// The number of the image with this address; 0 = it is not known, or not certain: the loader knows. Needs no lock.
uint32_t knownImageAt(const Arena &arena, uint64_t address) noexcept;

// The tree of this process, made with its first path; null = no room. With signals blocked and Process::lock held.
PathTree *pathTreeOf(Arena &arena) noexcept;

// The tree of the process of this generation; null: a handler has forked meanwhile, and we are the child.
inline PathTree *treeOf(uint64_t generation) noexcept {
  PathTree *tree = __atomic_load_n(&__msl_process.paths, __ATOMIC_ACQUIRE);
  return __atomic_load_n(&__msl_process.state, __ATOMIC_RELAXED) == generation ? tree : nullptr;
}

} // namespace msleaks::runtime
