// The file of a process's counters (abi/counts_file.h). Its records are in mapped memory, so the file keeps them if the
// process is killed.
#pragma once

#include "session.h"

#include "msleaks/abi/counts_file.h"

namespace msleaks::runtime {

struct CountsFile {
  PathText path;
  uint64_t file_bytes; // 0: not made yet
  char *slab;          // null: the next record needs one
  uint64_t slab_bytes, used_bytes;
  bool is_full; // the file could not be made, or has no room: no more records
};

// Returns room for the body of a record, all zeros; null = there is no room. Readers see the record once it is
// published. Call with Process::lock held.
abi::CountsRecord *addRecord(CountsFile &file, Arena &arena, abi::CountsKind kind, uint32_t unit,
                             uint64_t bytes) noexcept;
inline void *bodyOf(abi::CountsRecord *record) noexcept { return record + 1; }
inline void publish(abi::CountsRecord *record) noexcept {
  record->magic.store(abi::CountsRecord::kMagic, std::memory_order_release);
}

} // namespace msleaks::runtime
