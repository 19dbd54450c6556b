// The file that a process counts in (abi/counts_file.h): records in memory that the file keeps when the process is
// killed.
#pragma once

#include "session.h"

#include "msleaks/abi/counts_file.h"

namespace msleaks::runtime {

struct CountsFile {
  PathText path;
  uint64_t file_bytes; // 0: not made yet
  char *slab;          // null: the next record needs one
  uint64_t slab_bytes, used_bytes;
  bool is_full; // it could not be made, or has no room: nothing more is put in
};

// Room for the body, all zeros; null = there is none. It counts as soon as it is published. With Process::lock held.
abi::CountsRecord *addRecord(CountsFile &file, Arena &arena, abi::CountsKind kind, uint32_t unit,
                             uint64_t bytes) noexcept;
inline void *bodyOf(abi::CountsRecord *record) noexcept { return record + 1; }
inline void publish(abi::CountsRecord *record) noexcept {
  record->magic.store(abi::CountsRecord::kMagic, std::memory_order_release);
}

} // namespace msleaks::runtime
