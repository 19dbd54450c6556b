// Builds arenas (the shared memory files of recorded processes) as abi/session.h describes them, and publishes events
// in them. In tests of the collector, this code replaces the runtime.
#pragma once

#include "msleaks/abi/session.h"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

namespace msleaks::test {

struct ArenaWish {
  uint32_t pid = static_cast<uint32_t>(getpid());
  uint64_t attach_ticks = 1000;
  uint64_t attach_ns = 5000;
  uint32_t max_rings = 8;
  uint32_t max_callers = 64;
  abi::ClockKind clock = abi::ClockKind::Monotonic;
  std::string_view command{"demo\0--fast\0", 12};
};

// A ring of events that a test fills as the runtime would.
class RingMaker {
public:
  RingMaker(abi::RingEntry *entry, abi::RingHeader *header) : entry_(entry), header_(header) {}

  abi::RingHeader &header() { return *header_; }
  void setState(abi::RingState state) { entry_->state.store(state, std::memory_order_release); }
  abi::RingState state() const { return entry_->state.load(std::memory_order_acquire); }

  abi::Slot *slot(uint64_t position) {
    auto *slots = reinterpret_cast<abi::Slot *>(reinterpret_cast<std::byte *>(header_) + abi::kHeaderBytes);
    return slots + (position & (header_->capacity - 1));
  }

  bool hasRoom(unsigned slots) const {
    return relaxed(header_->reserved) + slots - header_->tail.load(std::memory_order_acquire) <= header_->capacity;
  }

  // Counts an event, and publishes it if the ring has room. If the ring has no room, counts the event as dropped and
  // returns false.
  template <class Event> bool record(Event event) {
    add(header_->produced, 1);
    if (!hasRoom(Event::kSlots)) {
      add(header_->dropped, 1);
      return false;
    }
    writeUnpublished(event);
    header_->head.store(relaxed(header_->reserved), std::memory_order_release);
    return true;
  }

  // Writes an event without the release store, as if the thread were killed before the store.
  template <class Event> void writeUnpublished(Event event) {
    const uint64_t position = relaxed(header_->reserved);
    add(header_->reserved, Event::kSlots);
    abi::Slot slots[abi::kMaxEventSlots];
    event.header.kind = Event::kKind;
    if constexpr (requires { event.continuation; })
      event.continuation = abi::kContinuationTag;
    std::memcpy(slots, &event, sizeof event);
    for (unsigned i = 0; i < Event::kSlots; ++i)
      *slot(position + i) = slots[i];
  }

  void recordAlloc(uint64_t address, uint64_t time, uint32_t site = 7) {
    abi::AllocEvent event{};
    event.header.site = site;
    event.header.time = time;
    event.address = address;
    event.size = 16;
    record(event);
  }

  // Continues the counters of the smaller ring `before`, as the runtime does when it replaces a ring by a larger one.
  void continueFrom(const RingMaker &before) {
    const abi::RingHeader &old = *before.header_;
    header_->stream = old.stream;
    header_->tid = old.tid;
    header_->produced = old.produced;
    header_->dropped = old.dropped;
    header_->stalled_ns = old.stalled_ns;
    startAt(old.reserved);
  }

  void startAt(uint64_t position) {
    header_->first_position = header_->reserved = position;
    header_->head = position;
    header_->tail = position;
  }

private:
  static uint64_t relaxed(const uint64_t &field) {
    return std::atomic_ref<uint64_t>(const_cast<uint64_t &>(field)).load(std::memory_order_relaxed);
  }
  static void add(uint64_t &field, uint64_t count) {
    std::atomic_ref<uint64_t>(field).store(relaxed(field) + count, std::memory_order_relaxed);
  }

  abi::RingEntry *entry_;
  abi::RingHeader *header_;
};

class ArenaMaker {
public:
  static constexpr uint64_t kFileBytes = uint64_t{24} << 20;

  explicit ArenaMaker(const std::filesystem::path &session, const ArenaWish &wish = {})
      : path_(session / fmt::format("{}.{:x}.rings", wish.pid, wish.attach_ticks)) {
    const int fd = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, kFileBytes) != 0)
      throw std::runtime_error("cannot make " + path_.string());
    void *memory = mmap(nullptr, kFileBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ::close(fd);
    if (memory == MAP_FAILED)
      throw std::runtime_error("cannot map " + path_.string());
    bytes_ = static_cast<std::byte *>(memory);
    abi::ArenaHeader &head = header();
    head.session_version = abi::kSessionVersion;
    head.slot_bytes = abi::kSlotBytes;
    head.pid = wish.pid;
    head.parent_pid = static_cast<uint32_t>(getppid());
    head.clock = wish.clock;
    head.attach_ticks = wish.attach_ticks;
    head.attach_ns = wish.attach_ns;
    head.attach_realtime_ns = 99;
    head.rings_offset = abi::kHeaderBytes;
    head.max_rings = wish.max_rings;
    head.callers_offset = head.rings_offset + wish.max_rings * sizeof(abi::RingEntry);
    head.max_callers = wish.max_callers;
    head.command_bytes = static_cast<uint32_t>(wish.command.size());
    std::memcpy(head.command, wish.command.data(), wish.command.size());
    end_ = uint64_t{1} << 16;
    head.path_blocks_offset = take(sizeof(abi::PathBlock) * abi::kMaxPathBlocks);
    head.path_count = abi::kFirstPath;
    head.magic.store(abi::ArenaHeader::kMagic, std::memory_order_release);
  }
  ~ArenaMaker() { munmap(bytes_, kFileBytes); }
  ArenaMaker(const ArenaMaker &) = delete;
  ArenaMaker &operator=(const ArenaMaker &) = delete;

  const std::filesystem::path &path() const { return path_; }
  std::filesystem::path definitions() const { return std::filesystem::path(path_).replace_extension(".defs"); }
  abi::ArenaHeader &header() { return *reinterpret_cast<abi::ArenaHeader *>(bytes_); }
  abi::RingEntry &entry(uint32_t index) {
    return reinterpret_cast<abi::RingEntry *>(bytes_ + header().rings_offset)[index];
  }
  abi::Caller &caller(uint32_t index) {
    return reinterpret_cast<abi::Caller *>(bytes_ + header().callers_offset)[index];
  }

  abi::PathBlock &pathBlock(uint32_t index) {
    return reinterpret_cast<abi::PathBlock *>(bytes_ + header().path_blocks_offset)[index];
  }

  // Adds a node to the table of call paths, and returns its number.
  uint32_t addPath(const abi::PathNode &node) {
    const uint32_t number = header().path_count;
    abi::PathBlock &block = pathBlock(number / abi::kPathBlockNodes);
    if (block.offset == 0)
      block.offset = take(sizeof(abi::PathNode) * abi::kPathBlockNodes);
    reinterpret_cast<abi::PathNode *>(bytes_ + block.offset)[number % abi::kPathBlockNodes] = node;
    header().path_count.store(number + 1, std::memory_order_release);
    return number;
  }

  // Adds a ring in state Live at the end of the file.
  RingMaker addRing(uint64_t capacity, uint32_t stream) {
    const uint32_t index = header().ring_count.load();
    abi::RingEntry &ring = entry(index);
    ring.bytes = abi::kHeaderBytes + capacity * abi::kSlotBytes;
    ring.offset = take(ring.bytes);
    header().ring_count.store(index + 1, std::memory_order_release);
    return claim(index, capacity, stream);
  }

  // Initializes a ring as a new thread does when it takes over the ring of an ended thread.
  RingMaker claim(uint32_t index, uint64_t capacity, uint32_t stream) {
    abi::RingEntry &ring = entry(index);
    ring.state.store(abi::RingState::Claimed);
    auto *head = new (bytes_ + ring.offset) abi::RingHeader{};
    head->magic = abi::RingHeader::kMagic;
    head->stream = stream;
    head->tid = 100 + stream;
    head->capacity = capacity;
    head->depth = 1;
    std::strncpy(head->thread_name, "worker", sizeof head->thread_name - 1);
    RingMaker maker(&ring, head);
    maker.setState(abi::RingState::Live);
    return maker;
  }

  // Returns the ring `index` in the collector's mapping of the arena. ThreadSanitizer finds a race only if both threads
  // use the same address. So a producer in a test must use the collector's mapping.
  RingMaker asCollectorSeesIt(uint32_t index) {
    auto *entries = reinterpret_cast<abi::RingEntry *>(otherMapping(0) + header().rings_offset);
    return {entries + index, reinterpret_cast<abi::RingHeader *>(otherMapping(entry(index).offset))};
  }

private:
  uint64_t take(uint64_t bytes) {
    const uint64_t offset = end_;
    end_ = (end_ + bytes + 4095) / 4096 * 4096;
    header().file_bytes.store(end_);
    return offset;
  }

  // Returns the address of the collector's mapping of this file at `offset`.
  std::byte *otherMapping(uint64_t offset) const {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      uint64_t begin = 0, at = 0;
      if (line.ends_with(path_.string()) && std::sscanf(line.c_str(), "%lx-%*x %*s %lx", &begin, &at) == 2 &&
          at == offset && begin != reinterpret_cast<uint64_t>(bytes_))
        return reinterpret_cast<std::byte *>(begin);
    }
    throw std::runtime_error("nobody else has mapped " + path_.string());
  }

  std::filesystem::path path_;
  std::byte *bytes_ = nullptr;
  uint64_t end_ = 0;
};

// Creates a temporary folder, and removes it at the end of the test.
class ScratchFolder {
public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "msleaks-test-XXXXXX").string();
    if (!mkdtemp(name.data()))
      throw std::runtime_error("no scratch folder");
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path &path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

private:
  std::filesystem::path path_;
};

} // namespace msleaks::test
