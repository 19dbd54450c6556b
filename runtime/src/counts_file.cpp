#include "counts_file.h"

#include "arena.h"
#include "definitions.h"
#include "system.h"

namespace msleaks::runtime {
namespace {

constexpr uint64_t kSlabBytes = 256 << 10;

constexpr uint64_t roundedUp(uint64_t bytes, uint64_t granule) { return (bytes + granule - 1) / granule * granule; }

// Grows the file and allocates its storage. Without storage, touching a page on a full disk would raise SIGBUS.
bool extend(const OpenFile &file, uint64_t from, uint64_t bytes) noexcept {
  const SizeSignalTaken taken;
  const int error = ::posix_fallocate(file.fd(), static_cast<off_t>(from), static_cast<off_t>(bytes));
  errno = error;
  return error == 0;
}

bool make(CountsFile &counts, const Arena &arena) noexcept {
  const char *folder = session.control->counts_folder;
  callKernel(SYS_mkdirat, AT_FDCWD, folder, 0750); // may fail, since the folder may exist
  counts.path.clear();
  counts.path << folder << "/" << arena.header->pid << ".";
  counts.path.hex(arena.header->attach_ticks) << abi::kCountsSuffix;
  if (!counts.path.fits())
    return false;
  const OpenFile file = createFile(counts.path.c_str(), O_RDWR);
  const uint64_t bytes = roundedUp(abi::kCountsHeaderBytes, session.page_bytes);
  if (!file || !extend(file, 0, bytes))
    return false;
  auto *header = static_cast<abi::CountsHeader *>(mapShared(file, 0, bytes));
  if (header == nullptr)
    return false;
  *header = {abi::CountsHeader::kMagic,
             abi::kCountsVersion,
             static_cast<uint32_t>(bytes),
             arena.header->pid,
             0,
             arena.header->attach_ns,
             {}};
  callKernel(SYS_munmap, header, bytes);
  counts.file_bytes = bytes;
  return true;
}

// Adds a slab to the file. Slabs are never unmapped, since threads write their counters there.
bool addSlab(CountsFile &counts, uint64_t least) noexcept {
  const uint64_t bytes = roundedUp(least > kSlabBytes ? least : kSlabBytes, session.page_bytes);
  const OpenFile file(counts.path.c_str(), O_RDWR | O_NOFOLLOW);
  if (!file || !extend(file, counts.file_bytes, bytes))
    return false;
  void *const slab = mapShared(file, counts.file_bytes, bytes);
  if (slab == nullptr)
    return false;
  static_cast<abi::CountsSlab *>(slab)->bytes = bytes;
  counts.slab = static_cast<char *>(slab);
  counts.slab_bytes = bytes;
  counts.used_bytes = sizeof(abi::CountsSlab);
  counts.file_bytes += bytes;
  return true;
}

void noteRefused(const CountsFile &counts, Arena &arena) noexcept {
  Text<1024> note;
  note << counts.path.c_str() << ": no room, or it cannot be made (errno " << static_cast<uint64_t>(errno)
       << "): edges are not counted";
  defineNote(arena, {note.c_str(), note.size()});
}

} // namespace

abi::CountsRecord *addRecord(CountsFile &counts, Arena &arena, abi::CountsKind kind, uint32_t unit,
                             uint64_t bytes) noexcept {
  const uint64_t body = roundedUp(bytes, 8), wanted = sizeof(abi::CountsRecord) + body;
  if (session.control->counts_folder[0] == 0 || counts.is_full)
    return nullptr;
  if (counts.file_bytes == 0 && !make(counts, arena))
    counts.is_full = true;
  const bool fits = counts.slab != nullptr && wanted <= counts.slab_bytes - counts.used_bytes;
  if (!counts.is_full && !fits && !addSlab(counts, sizeof(abi::CountsSlab) + wanted))
    counts.is_full = true;
  if (counts.is_full) {
    noteRefused(counts, arena);
    return nullptr;
  }
  auto *record = reinterpret_cast<abi::CountsRecord *>(counts.slab + counts.used_bytes);
  counts.used_bytes += wanted;
  record->kind = kind;
  record->unit = unit;
  record->bytes = body;
  return record;
}

} // namespace msleaks::runtime
