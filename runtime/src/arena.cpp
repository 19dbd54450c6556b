#include "arena.h"

#include "system.h"

#include "msleaks/abi/site_table.h"
#include "msleaks/runtime/clock.h"

#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/vfs.h>

namespace msleaks::runtime {
namespace {

constexpr uint64_t roundedUp(uint64_t bytes, uint64_t granule) { return (bytes + granule - 1) & ~(granule - 1); }

constexpr uint64_t kLargeBlocksOffset = abi::kHeaderBytes;
constexpr uint64_t kEntriesOffset = 2 * abi::kHeaderBytes;
constexpr uint64_t kFirstBytes = 3 * abi::kHeaderBytes; // up to enough ring entries for most processes
constexpr uint64_t kCallersOffset =
    roundedUp(kEntriesOffset + sizeof(abi::RingEntry) * abi::kMaxRings, abi::kMinPageBytes);
constexpr uint64_t kCallersBytes = sizeof(abi::Caller) * abi::kMaxCallers;
constexpr uint64_t kPathBlocksOffset = kCallersOffset + kCallersBytes;
constexpr uint64_t kPathBlocksBytes = sizeof(abi::PathBlock) * abi::kMaxPathBlocks;
constexpr uint64_t kTablesEnd = kPathBlocksOffset + kPathBlocksBytes;

// Grows the file and allocates its storage. On a full tmpfs ftruncate alone succeeds, and touching the memory would
// raise SIGBUS.
bool allocate(const OpenFile &file, uint64_t offset, uint64_t bytes) noexcept {
  const SizeSignalTaken taken;
  const int error = ::posix_fallocate(file.fd(), static_cast<off_t>(offset), static_cast<off_t>(bytes));
  if (error != 0)
    errno = error;
  return error == 0;
}

bool reopenAndAllocate(const Arena &arena, uint64_t offset, uint64_t bytes) noexcept {
  const OpenFile file(arena.rings_path.c_str(), O_RDWR | O_NOFOLLOW);
  return file && allocate(file, offset, bytes);
}

// Returns a number that differs for each exec: a hash of the 16 random bytes that the kernel passes to each new image.
// The bytes themselves must stay secret, since the stack protector uses them.
uint32_t execId() noexcept {
  const auto *random = reinterpret_cast<const unsigned char *>(::getauxval(AT_RANDOM));
  return random != nullptr ? abi::fnv1a32(random, 16) : 0;
}

uint64_t pidNamespace() noexcept {
  struct stat status;
  return callKernel(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/pid", &status, 0) == 0 ? status.st_ino : 0;
}

bool isPidfs(int fd) noexcept {
  constexpr long kPidfs = 0x50494446;
  struct statfs system;
  return callKernel(SYS_fstatfs, fd, &system) == 0 && system.f_type == kPidfs;
}

// Returns the inode of the process's pidfd, or 0. Since Linux 6.9 this inode is unique to the process. In earlier
// kernels, all pidfds had the same inode.
uint64_t inodeOfProcess(bool has_pidfs) noexcept {
  const long fd = callKernel(SYS_pidfd_open, processId(), 0);
  if (fd < 0)
    return 0;
  struct stat file;
  const bool known = (has_pidfs || isPidfs(static_cast<int>(fd))) && callKernel(SYS_fstat, fd, &file) == 0;
  callKernel(SYS_close, fd);
  return known ? file.st_ino : 0;
}

// Reads the start time of the process, which is field 22 of /proc/self/stat. Field 2, the name, ends at the last
// parenthesis and may contain any characters. So the search begins there.
uint64_t startTicks() noexcept {
  char line[1024];
  const OpenFile file("/proc/self/stat", O_RDONLY);
  const uint64_t bytes = file ? file.read(line, sizeof line) : 0;
  const std::string_view text(line, bytes);
  uint64_t at = text.rfind(')');
  for (int field = 2; field < 22 && at < bytes; ++field)
    at = text.find(' ', at + 1);
  uint64_t ticks = 0;
  if (at < bytes)
    for (++at; at < bytes && line[at] >= '0' && line[at] <= '9'; ++at)
      ticks = ticks * 10 + static_cast<uint64_t>(line[at] - '0');
  return ticks;
}

uint64_t processBirth(bool has_pidfs) noexcept {
  const uint64_t inode = inodeOfProcess(has_pidfs);
  return inode != 0 ? inode | abi::kBirthIsInode : startTicks();
}

// Fills the fields that come from /proc. For a fork's child, describeChild copies most of these fields from the
// ancestor's arena, since many children are short-lived. Each read of /proc takes 20 to 70 us.
void describe(abi::ArenaHeader &header) noexcept {
  header.pid_namespace = pidNamespace();
  header.process_birth = processBirth(false);
  if (const OpenFile command("/proc/self/cmdline", O_RDONLY); command)
    header.command_bytes = static_cast<uint32_t>(command.read(header.command, sizeof header.command));
}

void describeChild(abi::ArenaHeader &header, const abi::ArenaHeader &ancestor) noexcept {
  header.ancestor_pid = ancestor.pid;
  header.ancestor_attach_ns = ancestor.attach_ns;
  // If the ancestor is not the parent, or the child is in a new pid namespace (getppid() returns 0), the namespace is
  // read again.
  header.pid_namespace = header.parent_pid == ancestor.pid ? ancestor.pid_namespace : pidNamespace();
  header.process_birth = processBirth((ancestor.process_birth & abi::kBirthIsInode) != 0);
  header.command_bytes = ancestor.command_bytes;
  std::memcpy(header.command, ancestor.command, ancestor.command_bytes);
}

void fillHeader(abi::ArenaHeader &header, uint64_t ticks) noexcept {
  header.session_version = abi::kSessionVersion;
  header.slot_bytes = abi::kSlotBytes;
  header.pid = processId();
  header.parent_pid = static_cast<uint32_t>(callKernel(SYS_getppid));
  header.clock = session.control->clock;
  header.exec_id = execId();
  header.attach_ticks = ticks;
  header.attach_ns = monotonicNs();
  header.attach_realtime_ns = readNs(CLOCK_REALTIME);
  header.rings_offset = kEntriesOffset;
  header.callers_offset = kCallersOffset;
  header.path_blocks_offset = kPathBlocksOffset;
  header.large_blocks_offset = kLargeBlocksOffset;
  header.max_rings = abi::kMaxRings;
  header.max_callers = abi::kMaxCallers;
  header.page_bytes = static_cast<uint32_t>(session.page_bytes);
  header.thread_bytes = sizeof(Thread);
  header.thread_offset =
      reinterpret_cast<char *>(&__msl_thread) - static_cast<const char *>(__builtin_thread_pointer());
  header.call_state_offset = offsetof(Thread, call);
  header.own_memory = listOfOwnMemory();
  header.file_bytes.store(kTablesEnd, std::memory_order_relaxed);
}

bool setSize(const OpenFile &file) noexcept {
  const SizeSignalTaken taken;
  return callKernel(SYS_ftruncate, file.fd(), kTablesEnd) == 0 && allocate(file, 0, kFirstBytes);
}

bool makeFile(Arena &arena, uint64_t ticks) noexcept {
  arena.rings_path = session.directory;
  arena.rings_path << "/" << processId() << ".";
  arena.rings_path.hex(ticks);
  arena.defs_path = arena.rings_path;
  arena.rings_path << ".rings";
  arena.defs_path << ".defs";
  if (!arena.rings_path.fits())
    return false;
  const OpenFile file = createFile(arena.rings_path.c_str(), O_RDWR);
  void *at = file && setSize(file) ? mapShared(file, 0, kTablesEnd) : nullptr;
  if (at == nullptr)
    return false;
  arena.header = static_cast<abi::ArenaHeader *>(at);
  arena.entries = reinterpret_cast<abi::RingEntry *>(static_cast<char *>(at) + kEntriesOffset);
  arena.large_blocks = reinterpret_cast<abi::LargeBlocks *>(static_cast<char *>(at) + kLargeBlocksOffset);
  return true;
}

// Allocates the page of a new ring entry, if the entry is the first one on its page.
bool makeEntryPage(const Arena &arena, uint32_t index) noexcept {
  const uint64_t begin = kEntriesOffset + index * sizeof(abi::RingEntry), end = begin + sizeof(abi::RingEntry);
  const uint64_t page = (end - 1) / session.page_bytes * session.page_bytes;
  return page < kFirstBytes || page < begin || reopenAndAllocate(arena, page, session.page_bytes);
}

struct Piece {
  void *at; // address of the mapping; null = no room
  uint64_t offset;
};

// Maps whole pages at the end of the file, and populates them immediately. If a record touched each page first, the
// pages would cost three times as much, which adds 17 to 48 ns to each record.
Piece append(Arena &arena, uint64_t bytes) noexcept {
  const uint64_t offset = roundedUp(arena.header->file_bytes.load(std::memory_order_relaxed), session.page_bytes);
  const OpenFile file(arena.rings_path.c_str(), O_RDWR | O_NOFOLLOW);
  void *at = file && allocate(file, offset, bytes) ? mapShared(file, offset, bytes, MAP_POPULATE) : nullptr;
  if (at != nullptr)
    arena.header->file_bytes.store(offset + bytes, std::memory_order_release);
  return {at, offset};
}

abi::RingHeader *appendRing(Arena &arena, abi::RingEntry &entry, uint64_t bytes) noexcept {
  const Piece piece = append(arena, bytes);
  if (piece.at == nullptr)
    return nullptr;
  entry.offset = piece.offset;
  entry.bytes = bytes;
  return static_cast<abi::RingHeader *>(piece.at);
}

} // namespace

Arena *makeArena(const Arena *ancestor) noexcept {
  auto *arena = static_cast<Arena *>(mapAnonymous(sizeof(Arena)));
  if (arena == nullptr)
    return nullptr;
  const uint64_t ticks = readClock(session.control->clock);
  if (!makeFile(*arena, ticks)) {
    const int reason = errno;
    unmapOwn(arena);
    errno = reason;
    return nullptr;
  }
  fillHeader(*arena->header, ticks);
  if (ancestor != nullptr)
    describeChild(*arena->header, *ancestor->header);
  else
    describe(*arena->header);
  arena->header->magic.store(abi::ArenaHeader::kMagic, std::memory_order_release);
  return arena;
}

ClaimedRing claimRing(Arena &arena, uint64_t bytes) noexcept {
  if (const ClaimedRing claimed = claimDrained(arena, bytes, bytes); claimed.ring != nullptr)
    return claimed;
  const uint32_t index = arena.header->ring_count.load(std::memory_order_relaxed);
  if (index >= abi::kMaxRings || !mayTake(bytes) || !makeEntryPage(arena, index))
    return {};
  abi::RingEntry &entry = arena.entries[index];
  abi::RingHeader *ring = appendRing(arena, entry, bytes);
  if (ring == nullptr)
    return {};
  arena.mapped[index] = ring;
  entry.state.store(abi::RingState::Claimed, std::memory_order_relaxed);
  arena.header->ring_count.store(index + 1, std::memory_order_release);
  return {ring, &entry};
}

ClaimedRing claimDrained(Arena &arena, uint64_t least_bytes, uint64_t most_bytes) noexcept {
  const uint32_t count = arena.header->ring_count.load(std::memory_order_relaxed);
  for (uint32_t step = 0; step < count; ++step) {
    const uint32_t index = (arena.next_claim + step) % count;
    abi::RingEntry &entry = arena.entries[index];
    if (entry.bytes < least_bytes || entry.bytes > most_bytes)
      continue;
    abi::RingState expected = abi::RingState::Drained;
    if (entry.state.compare_exchange_strong(expected, abi::RingState::Claimed, std::memory_order_acquire)) {
      arena.next_claim = index + 1;
      return {arena.mapped[index], &entry};
    }
  }
  return {};
}

bool makeCallers(Arena &arena) noexcept {
  return !collectorGone() && reopenAndAllocate(arena, kCallersOffset, kCallersBytes);
}

abi::PathNode *makePathBlock(Arena &arena, uint32_t block) noexcept {
  constexpr uint32_t kEntriesAtOnce = abi::kMinPageBytes / sizeof(abi::PathBlock);
  const uint64_t entry = kPathBlocksOffset + block * sizeof(abi::PathBlock);
  if (collectorGone() || (block % kEntriesAtOnce == 0 && !reopenAndAllocate(arena, entry, abi::kMinPageBytes)))
    return nullptr;
  const Piece piece = append(arena, sizeof(abi::PathNode) * abi::kPathBlockNodes);
  if (piece.at == nullptr)
    return nullptr;
  reinterpret_cast<abi::PathBlock *>(reinterpret_cast<char *>(arena.header) + entry)->offset = piece.offset;
  return static_cast<abi::PathNode *>(piece.at);
}

} // namespace msleaks::runtime
