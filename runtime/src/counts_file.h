// Writes the file of a process's counters (abi/counts_file.h). The records are in a shared mapping of the file, so they
// stay in the file if the process is killed.
#pragma once

#include "session.h"

#include "msleaks/abi/counts_file.h"

namespace msleaks::runtime {

struct CountsFile {
  PathText path;
  uint64_t file_bytes; // 0: the file is not made yet
  char *slab;          // null: the next record needs a new slab
  uint64_t slab_bytes, used_bytes;
  bool is_full; // the file could not be made, or there is no room; no more records are added
};

// Returns a record whose body is all zeros, or null if the session stores no counters or there is no room. Readers see
// the record after publish(). Call with Process::lock held.
abi::CountsRecord *addRecord(CountsFile &file, Arena &arena, abi::CountsKind kind, uint32_t unit,
                             uint64_t bytes) noexcept;
inline void *bodyOf(abi::CountsRecord *record) noexcept { return record + 1; }
inline void publish(abi::CountsRecord *record) noexcept {
  record->magic.store(abi::CountsRecord::kMagic, std::memory_order_release);
}

} // namespace msleaks::runtime
