// Allocates the counters of control-flow edges (abi/graph_table.h). Each thread has an array of counters for each
// module whose functions it has entered.
#pragma once

#include "counts_file.h"

#include "msleaks/abi/graph_table.h"

namespace msleaks::runtime {

// The array of one thread. When the thread ends, its array is marked as free. The next thread that needs an array adds
// to the counts in this array.
struct CounterArray {
  uint64_t **slot;    // the thread-local pointer to this array; null: the array is free
  const void *thread; // the thread pointer of the thread that uses the array
  uint64_t *counts;
  CounterArray *next;
};

struct CountedUnit {
  const abi::GraphUnit *unit; // null: the module of the unit was unloaded
  uint32_t number;
  CounterArray *arrays;
  CountedUnit *next;
};

// The counters of one process. The runtime makes this struct when the process first counts.
struct Counting {
  CountsFile file;
  CountedUnit *units; // list of the units, newest first
  uint32_t unit_count;
  bool is_other_noted; // a note about a module of another version was written
  char *pool;          // memory for new list entries
  uint64_t pool_bytes;
};

// Makes the thread of a fork's child request new arrays. The old arrays are in memory that the child shares with its
// parent, and belong to the parent. If fork() or _Fork() of libc made the child, this function runs in the child at
// once. After a raw clone, it runs when the child attaches.
void leaveParentsCounters() noexcept;

// Frees the arrays of the calling thread. Call this when the thread ends.
void endCounters() noexcept;

} // namespace msleaks::runtime
