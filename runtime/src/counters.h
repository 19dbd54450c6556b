// Counters of edges (abi/graph_table.h): each thread has an array for each module that it has counted in.
#pragma once

#include "counts_file.h"

#include "msleaks/abi/graph_table.h"

namespace msleaks::runtime {

// Where a thread counts. Freed when the thread ends: the next one goes on with what it holds.
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
  char *pool;          // for what stands above
  uint64_t pool_bytes;
};

// In the child of a fork: the arrays are the parent's, in memory that it shares with its child, and the thread that
// forked asks for others. libc's fork tells of a child at once; any other one is noticed when it attaches.
void leaveParentsCounters() noexcept;

// The calling thread counts no more.
void endCounters() noexcept;

} // namespace msleaks::runtime
