// Stores the joins (python_path.h) that a thread has used recently. They are also in the tree of paths, but its hash
// table does not fit into a processor's cache.
#pragma once

#include <atomic>
#include <cstdint>

namespace msleaks::runtime::python {

class RecentJoins {
public:
  // Returns the join of the path to `node` with these calls, or 0.
  uint32_t find(uint32_t node, uint32_t calls) const noexcept {
    const Entry &entry = entries_[indexOf(node, calls)];
    return entry.node == node && entry.calls == calls && entry.round == round_ ? entry.join : 0;
  }

  void keep(uint32_t node, uint32_t calls, uint32_t join) noexcept {
    Entry &entry = entries_[indexOf(node, calls)];
    entry.node = 0; // if a signal handler now ends this function by a longjmp, no half-changed entry remains
    std::atomic_signal_fence(std::memory_order_seq_cst);
    entry.calls = calls;
    entry.join = join;
    entry.round = round_;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    entry.node = node;
  }

  // Forgets all joins. Memory that is all zeros is an empty store, since no node has the number 0. The child of a fork
  // forgets the joins of its parent, and so must not write to all entries.
  void forget() noexcept { ++round_; }

private:
  static constexpr uint32_t kEntries = 1u << 14; // a step of a training has thousands of paths
  struct Entry {
    uint32_t node, calls, join;
    uint32_t round; // the entry is valid only in this round
  };
  static uint32_t indexOf(uint32_t node, uint32_t calls) noexcept {
    return (node * 0x9e37'79b1u ^ calls * 0x85eb'ca6bu) >> 18;
  }

  uint32_t round_;
  Entry entries_[kEntries];
};

} // namespace msleaks::runtime::python
