// Counters of edges (abi/graph_table.h): each thread has an array for each module that it has counted in.
#pragma once

#include "counts_file.h"

#include "msleaks/abi/graph_table.h"

namespace msleaks::runtime {

// The array of one thread. It is freed when the thread ends; the next thread goes on with its counts.
struct CounterArray {
  uint64_t **slot;    // the thread-local pointer to it; null: free
  const void *thread; // its thread pointer
  uint64_t *counts;
  CounterArray *next;
};

struct CountedUnit {
  const abi::GraphUnit *unit; // null: its module has gone
  uint32_t number;
  CounterArray *arrays;
  CountedUnit *next;
};

// The counters of one process, made when it first counts.
struct Counting {
  CountsFile file;
  CountedUnit *units; // newest first
  uint32_t unit_count;
  bool is_other_noted; // a module of another version
  char *pool;          // memory for the lists above
  uint64_t pool_bytes;
};

// Call this in the child of a fork. The arrays are the parent's, in memory that parent and child share, so the thread
// that forked needs others. libc's fork reports a child at once. Any other child is noticed when it attaches.
void leaveParentsCounters() noexcept;

// Ends the counting of the calling thread.
void endCounters() noexcept;

} // namespace msleaks::runtime
