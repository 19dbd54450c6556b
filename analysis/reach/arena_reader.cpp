#include "analysis/reach/arena_reader.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <iterator>
#include <linux/futex.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace msleaks::analysis::inline reach {
namespace {

// In the process, these fields are plain memory of one thread. Here they may change while they are read.
template <class T> T loadShared(T &field) { return std::atomic_ref<T>(field).load(std::memory_order_relaxed); }

tl::unexpected<Error> broken(const std::filesystem::path &file, const std::string &what) {
  return fail(fmt::format("{}: not a usable arena: {}", file.filename().string(), what));
}

bool fits(uint64_t offset, uint64_t count, uint64_t size, uint64_t file_bytes) {
  return offset % alignof(uint64_t) == 0 && offset <= file_bytes && count <= (file_bytes - offset) / size;
}

// "ls\0-l\0" -> {"ls", "-l"}. An argument that is cut off at the end is kept.
std::vector<std::string> splitCommand(const char *bytes, uint32_t count) {
  std::vector<std::string> arguments;
  for (const char *at = bytes, *end = bytes + count; at < end;) {
    const char *stop = std::find(at, end, '\0');
    arguments.emplace_back(at, stop);
    at = stop + 1;
  }
  return arguments;
}

ArenaFacts readFacts(const abi::ArenaHeader &header) {
  ArenaFacts facts;
  facts.pid = header.pid;
  facts.parent_pid = header.parent_pid;
  facts.pid_namespace = header.pid_namespace;
  facts.process_birth = header.process_birth;
  facts.exec_id = header.exec_id;
  facts.ancestor = {header.ancestor_pid, header.ancestor_attach_ns};
  facts.page_bytes = header.page_bytes;
  facts.clock = header.clock;
  facts.attach_ticks = header.attach_ticks;
  facts.attach_ns = header.attach_ns;
  facts.attach_realtime_ns = header.attach_realtime_ns;
  facts.command = splitCommand(header.command, std::min<uint32_t>(header.command_bytes, sizeof header.command));
  return facts;
}

Result<void> checkHeader(const std::filesystem::path &file, const abi::ArenaHeader &header, uint64_t file_bytes) {
  if (header.magic.load(std::memory_order_relaxed) != abi::ArenaHeader::kMagic)
    return broken(file, "wrong magic");
  if (header.session_version != abi::kSessionVersion)
    return broken(
        file, fmt::format("made by a runtime of version {}, this is {}", header.session_version, abi::kSessionVersion));
  if (header.slot_bytes != abi::kSlotBytes)
    return broken(file, fmt::format("slots of {} bytes", header.slot_bytes));
  if (!fits(header.rings_offset, header.max_rings, sizeof(abi::RingEntry), file_bytes))
    return broken(file, "its directory of rings lies outside");
  if (!fits(header.callers_offset, header.max_callers, sizeof(abi::Caller), file_bytes))
    return broken(file, "its table of callers lies outside");
  if (!fits(header.path_blocks_offset, abi::kMaxPathBlocks, sizeof(abi::PathBlock), file_bytes))
    return broken(file, "its table of paths lies outside");
  if (header.large_blocks_offset % alignof(abi::LargeBlocks) != 0 ||
      (header.large_blocks_offset != 0 &&
       !fits(header.large_blocks_offset, 1, sizeof(abi::LargeBlocks), header.rings_offset)))
    return broken(file, "its table of large blocks lies outside");
  return {};
}

} // namespace

Result<RingReader> RingReader::open(const FileDescriptor &arena, uint64_t offset, uint64_t bytes) {
  if (offset % alignof(abi::RingHeader) != 0 || bytes <= abi::kHeaderBytes)
    return fail(fmt::format("a ring of {} bytes at {}", bytes, offset));
  auto mapping = MSL_TRY(Mapping::map(arena, offset, bytes, Access::ReadWrite));
  RingReader ring;
  ring.mapping_ = std::move(mapping);
  const abi::RingHeader &header = *ring.header();
  ring.stream_ = header.stream;
  ring.tid_ = header.tid;
  ring.capacity_ = header.capacity;
  ring.first_position_ = header.first_position;
  ring.thread_name_.assign(header.thread_name, strnlen(header.thread_name, sizeof header.thread_name));
  if (header.magic != abi::RingHeader::kMagic)
    return fail(fmt::format("no ring at {}", offset));
  if (!std::has_single_bit(ring.capacity_) || ring.capacity_ > (bytes - abi::kHeaderBytes) / abi::kSlotBytes)
    return fail(fmt::format("a ring of {} slots in {} bytes", ring.capacity_, bytes));
  ring.position_ = std::max(header.tail.load(std::memory_order_acquire), ring.first_position_);
  return ring;
}

void RingReader::moveTo(uint64_t position) {
  position_ = position;
  header()->tail.store(position, std::memory_order_release);
}

uint64_t RingReader::head() const { return header()->head.load(std::memory_order_acquire); }

uint64_t RingReader::reserved() const {
  std::atomic_thread_fence(std::memory_order_acquire); // read after the slots, because it shows which of them may be
                                                       // overwritten
  return loadShared(header()->reserved);
}

uint64_t RingReader::depth() const { return loadShared(header()->depth); }

RingAccount RingReader::account() const {
  return {loadShared(header()->produced), loadShared(header()->dropped), loadShared(header()->stalled_ns)};
}

void RingReader::copy(uint64_t from, std::span<abi::Slot> out) const {
  const abi::Slot *slots = mapping_.at<abi::Slot>(abi::kHeaderBytes);
  const uint64_t begin = from & (capacity_ - 1);
  const uint64_t count = std::min<uint64_t>(out.size(), capacity_);
  const uint64_t straight = std::min(count, capacity_ - begin);
  std::memcpy(out.data(), slots + begin, straight * abi::kSlotBytes);
  std::memcpy(out.data() + straight, slots, (count - straight) * abi::kSlotBytes);
}

Result<std::optional<ArenaReader>> ArenaReader::open(const std::filesystem::path &file) {
  auto fd = openFile(file, Access::ReadWrite);
  if (!fd && (errno == EMFILE || errno == ENFILE))
    return std::nullopt;
  if (!fd)
    return tl::make_unexpected(fd.error());
  const uint64_t bytes = sizeOf(*fd);
  if (bytes < sizeof(abi::ArenaHeader))
    return std::nullopt;
  // The header is read, not mapped: a hole in the file reads as zeros, even if a full file system cannot give it a
  // page.
  abi::ArenaHeader header{};
  const auto readHeader = [&](size_t count) {
    return pread(fd->get(), &header, count, 0) == static_cast<ssize_t>(count);
  };
  // The magic is stored last, so it is read before the rest.
  if (!readHeader(sizeof header.magic) || header.magic.load(std::memory_order_acquire) == 0 ||
      !readHeader(sizeof header))
    return std::nullopt;
  MSL_TRY(checkHeader(file, header, bytes));
  const uint64_t mapped =
      std::max({sizeof(abi::ArenaHeader), header.rings_offset + header.max_rings * sizeof(abi::RingEntry),
                header.callers_offset + header.max_callers * sizeof(abi::Caller)});
  auto mapping = MSL_TRY(Mapping::map(*fd, 0, mapped, Access::ReadWrite));
  ArenaReader arena;
  arena.path_ = file;
  arena.file_ = std::move(*fd);
  arena.mapping_ = std::move(mapping);
  arena.facts_ = readFacts(header);
  arena.rings_offset_ = header.rings_offset;
  arena.callers_offset_ = header.callers_offset;
  arena.path_blocks_offset_ = header.path_blocks_offset;
  arena.large_blocks_offset_ = header.large_blocks_offset;
  arena.max_rings_ = header.max_rings;
  arena.max_callers_ = header.max_callers;
  return arena;
}

uint32_t ArenaReader::ringCount() const {
  return std::min(header()->ring_count.load(std::memory_order_acquire), max_rings_);
}

abi::RingState ArenaReader::ringState(uint32_t index) const {
  return entries()[index].state.load(std::memory_order_acquire);
}

Result<RingReader> ArenaReader::openRing(uint32_t index) const {
  const abi::RingEntry &entry = entries()[index];
  return RingReader::open(file_, entry.offset, entry.bytes);
}

void ArenaReader::markDrained(uint32_t index) {
  abi::RingState ended = abi::RingState::Ended;
  entries()[index].state.compare_exchange_strong(ended, abi::RingState::Drained, std::memory_order_release,
                                                 std::memory_order_relaxed);
}

std::optional<ArenaReader::CallerPlace> ArenaReader::caller(uint32_t index) const {
  if (index >= max_callers_)
    return std::nullopt;
  const abi::Caller &caller = mapping_.at<abi::Caller>(callers_offset_)[index];
  const uint64_t address = caller.address.load(std::memory_order_acquire) & ~abi::kRetiredCaller;
  if (address == 0)
    return std::nullopt;
  return CallerPlace{address, caller.image};
}

uint32_t ArenaReader::pathCount() const {
  return std::min(header()->path_count.load(std::memory_order_acquire), abi::kMaxPathBlocks * abi::kPathBlockNodes);
}

// The nodes are read, not mapped: a file that was cut off gives fewer nodes, and no signal.
void ArenaReader::readPaths(uint32_t first, uint32_t most, std::vector<PathEntry> &to) const {
  const uint32_t end = std::min(pathCount(), first + std::min(most, UINT32_MAX - first));
  to.clear();
  for (uint32_t number = first; number < end;) {
    abi::PathBlock block;
    abi::PathNode nodes[256];
    const uint32_t within = number % abi::kPathBlockNodes;
    const uint32_t count = std::min<uint32_t>({end - number, abi::kPathBlockNodes - within, std::size(nodes)});
    const uint64_t entry = path_blocks_offset_ + number / abi::kPathBlockNodes * sizeof block;
    if (pread(file_.get(), &block, sizeof block, static_cast<off_t>(entry)) != static_cast<ssize_t>(sizeof block))
      return;
    const auto bytes = static_cast<ssize_t>(count * sizeof(abi::PathNode));
    if (block.offset == 0 || block.offset > INT64_MAX / 2 ||
        pread(file_.get(), nodes, static_cast<size_t>(bytes),
              static_cast<off_t>(block.offset + within * sizeof(abi::PathNode))) != bytes)
      return;
    for (uint32_t i = 0; i < count; ++i)
      to.push_back({number + i, nodes[i].parent, nodes[i].image, nodes[i].address});
    number += count;
  }
}

uint32_t ArenaReader::pathsRefused() const { return header()->paths_refused.load(std::memory_order_relaxed); }

uint64_t ArenaReader::droppedNoRing() const { return header()->dropped_no_ring.load(std::memory_order_relaxed); }

bool ArenaReader::hasLeft() const { return header()->leaving.load(std::memory_order_acquire) != 0; }

bool ArenaReader::isSandboxed() const { return header()->filters.load(std::memory_order_relaxed) != 0; }

uint64_t ArenaReader::exitNs() const { return header()->exit_ns.load(std::memory_order_acquire); }

uint64_t ArenaReader::memoryBytes() const {
  struct stat now{};
  return fstat(file_.get(), &now) == 0 ? static_cast<uint64_t>(now.st_blocks) * 512 : 0;
}

std::optional<ArenaReader::Waiting> ArenaReader::waiting() const {
  const abi::ArenaHeader &arena = *header();
  if (arena.reach_wait.load(std::memory_order_acquire) != abi::ReachWait::Waiting)
    return std::nullopt;
  return Waiting{arena.reach_tid, arena.reach_since_ns, arena.reach_stack, arena.reach_thread_pointer,
                 arena.reach_at_exit != 0};
}

bool ArenaReader::moveWait(abi::ReachWait from, abi::ReachWait to) {
  std::atomic<abi::ReachWait> &wait = header()->reach_wait;
  if (!wait.compare_exchange_strong(from, to, std::memory_order_acq_rel))
    return false;
  syscall(SYS_futex, &wait, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
  return true;
}

bool ArenaReader::beginReading() { return moveWait(abi::ReachWait::Waiting, abi::ReachWait::Reading); }
bool ArenaReader::isReading() const {
  return header()->reach_wait.load(std::memory_order_acquire) == abi::ReachWait::Reading;
}
void ArenaReader::endReading() { moveWait(abi::ReachWait::Reading, abi::ReachWait::Read); }

uint32_t ArenaReader::askedImage() const { return header()->watch_image.load(std::memory_order_acquire); }

void ArenaReader::answerImage(const std::vector<abi::WatchRange> &ranges) {
  abi::ArenaHeader &arena = *header();
  uint32_t count = std::min(arena.watch_ranges.load(std::memory_order_relaxed), abi::kMaxWatchRanges);
  for (const abi::WatchRange &range : ranges)
    if (count < abi::kMaxWatchRanges)
      arena.watch_range[count++] = range;
  arena.watch_ranges.store(count, std::memory_order_release);
  arena.watch_image.store(0, std::memory_order_release);
  syscall(SYS_futex, &arena.watch_image, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

OwnStorage ArenaReader::ownStorage() const {
  const abi::ArenaHeader &arena = *header();
  return {arena.thread_offset, arena.thread_bytes, arena.call_state_offset, arena.own_memory};
}

uint32_t ArenaReader::definitionsRefused() const {
  return header()->definitions_refused.load(std::memory_order_relaxed);
}

} // namespace msleaks::analysis::inline reach
