// A session without a collector for tests: its directory and control page, and a simple reader of the processes' files.
// Tests record in child processes, because a process never changes its session.
#pragma once

#include "../sanitizers.h"
#include "msleaks/abi/definitions.h"
#include "msleaks/abi/process_status.h"
#include "msleaks/abi/session.h"
#include "msleaks/abi/site_table.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace msleaks::test {

inline uint64_t nowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

struct ReadEvent {
  uint32_t ring;
  uint32_t stream;
  uint64_t position;
  abi::AnyEvent event;
};

struct Account {
  uint64_t produced = 0, dropped = 0, stalled_ns = 0;
};

struct Definition {
  abi::DefinitionKind kind;
  std::string body;
};

// Reads the files of one process.
class ArenaFile {
public:
  explicit ArenaFile(const std::filesystem::path &path) : path_(path) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    bytes_ = static_cast<uint64_t>(std::filesystem::file_size(path));
    base_ = static_cast<char *>(::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    ::close(fd);
  }
  ~ArenaFile() { ::munmap(base_, bytes_); }
  ArenaFile(const ArenaFile &) = delete;
  ArenaFile &operator=(const ArenaFile &) = delete;

  abi::ArenaHeader &header() const { return *reinterpret_cast<abi::ArenaHeader *>(base_); }
  uint32_t ringCount() const { return header().ring_count.load(std::memory_order_acquire); }
  abi::RingEntry &entry(uint32_t i) const {
    return reinterpret_cast<abi::RingEntry *>(base_ + header().rings_offset)[i];
  }
  abi::RingHeader &ring(uint32_t i) const { return *reinterpret_cast<abi::RingHeader *>(base_ + entry(i).offset); }
  abi::Caller &caller(uint32_t i) const { return reinterpret_cast<abi::Caller *>(base_ + header().callers_offset)[i]; }
  const abi::PathNode &pathNode(uint32_t number) const {
    const auto *blocks = reinterpret_cast<const abi::PathBlock *>(base_ + header().path_blocks_offset);
    return reinterpret_cast<const abi::PathNode *>(
        base_ + blocks[number / abi::kPathBlockNodes].offset)[number % abi::kPathBlockNodes];
  }
  bool covers(uint32_t i) const { return entry(i).offset + entry(i).bytes <= bytes_; }

  // Moves the published events of ring i to `out`. If the ring has ended, its state becomes Drained.
  void drain(uint32_t i, std::vector<ReadEvent> &out) const {
    const auto state = entry(i).state.load(std::memory_order_acquire);
    if (state != abi::RingState::Live && state != abi::RingState::Ended)
      return;
    drainRing(ring(i), i, out);
    if (state == abi::RingState::Ended)
      entry(i).state.store(abi::RingState::Drained, std::memory_order_release);
  }

  static void drainRing(abi::RingHeader &from, uint32_t i, std::vector<ReadEvent> &out) {
    uint64_t at = from.tail.load(std::memory_order_relaxed);
    const uint64_t head = from.head.load(std::memory_order_acquire);
    while (at < head) {
      ReadEvent read{i, from.stream, at, {}};
      copySlot(from, at, read.event.slots[0]);
      const unsigned slots = abi::slotsOf(read.event.header().kind);
      if (slots == 2)
        copySlot(from, at + 1, read.event.slots[1]);
      at += slots == 0 ? 1 : slots;
      out.push_back(read);
    }
    from.tail.store(at, std::memory_order_release);
  }

  // Returns the totals of each stream. They are in the header of the stream's last ring.
  std::map<uint32_t, Account> accounts() const {
    std::map<uint32_t, uint64_t> begins;
    std::map<uint32_t, Account> result;
    for (uint32_t i = 0; i < ringCount(); ++i) {
      const abi::RingHeader &from = ring(i);
      if (result.contains(from.stream) && from.first_position < begins[from.stream])
        continue;
      begins[from.stream] = from.first_position;
      result[from.stream] = {from.produced, from.dropped, from.stalled_ns};
    }
    return result;
  }

  std::vector<Definition> definitions() const {
    std::ifstream file(std::filesystem::path(path_).replace_extension(".defs"), std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    std::vector<Definition> result;
    for (size_t at = 0; at < bytes.size();) {
      abi::DefinitionHeader header;
      if (bytes.size() - at < sizeof header)
        break;
      std::memcpy(&header, bytes.data() + at, sizeof header);
      at += sizeof header;
      EXPECT_EQ(header.magic, abi::kDefinitionMagic);
      if (header.magic != abi::kDefinitionMagic || bytes.size() - at < header.bytes)
        break;
      result.push_back({header.kind, bytes.substr(at, header.bytes)});
      EXPECT_EQ(header.checksum,
                abi::fnv1a32(reinterpret_cast<const unsigned char *>(bytes.data() + at), header.bytes));
      at += (size_t{header.bytes} + 7) / 8 * 8;
    }
    return result;
  }

private:
  static void copySlot(const abi::RingHeader &from, uint64_t position, abi::Slot &to) {
    const auto *slots = reinterpret_cast<const uint64_t *>(reinterpret_cast<const char *>(&from) + abi::kHeaderBytes);
    uint64_t words[4];
    for (unsigned i = 0; i < 4; ++i)
      words[i] = slots[(position & (from.capacity - 1)) * 4 + i]; // not atomic: `head` and `tail` order the accesses
    std::memcpy(&to, words, sizeof to);
  }

  std::filesystem::path path_;
  uint64_t bytes_ = 0;
  char *base_ = nullptr;
};

// Returns flags with which events of instrumented code have sites, but no call paths.
inline abi::Flags ofPlaces() {
  abi::Flags flags;
  flags.call_stack = abi::CallStack::Auto;
  return flags;
}

// Creates a session's directory with its control page. The destructor removes the directory.
class SessionDirectory {
public:
  explicit SessionDirectory(const abi::Flags &flags = ofPlaces(), const std::string &parent = "/dev/shm") {
    std::string name = parent + "/msleaks-test-XXXXXX";
    path_ = ::mkdtemp(name.data());
    control_ = new (makePage(abi::kControlFile)) abi::ControlPage{};
    if (void *page = makePage(abi::kUnseenFile)) {
      unseen_ = new (page) abi::UnseenPage{};
      unseen_->magic = abi::UnseenPage::kMagic;
    }
    control_->magic = abi::ControlPage::kMagic;
    control_->session_version = abi::kSessionVersion;
    control_->flags = flags;
    control_->flags.reach = abi::Reach::Off; // without a collector, a process would wait at its exit in vain
    std::ifstream status("/proc/self/status");
    control_->seccomp_filters = abi::seccompFilters(std::string((std::istreambuf_iterator<char>(status)), {}));
    control_->enabled = abi::enabledFor(~abi::kKernelEvidence, flags.call_stack);
    beat();
  }
  ~SessionDirectory() {
    ::munmap(control_, abi::kHeaderBytes);
    if (unseen_ != nullptr)
      ::munmap(unseen_, abi::kHeaderBytes);
    std::filesystem::remove_all(path_);
  }
  SessionDirectory(const SessionDirectory &) = delete;
  SessionDirectory &operator=(const SessionDirectory &) = delete;

  const std::filesystem::path &path() const { return path_; }
  abi::ControlPage &control() const { return *control_; }
  abi::UnseenPage &unseen() const { return *unseen_; }
  // loseCollector() changes the control page as the kernel does when it kills the collector's thread. findCollector()
  // changes it as a new collector does.
  void loseCollector() const { control_->collector_thread.fetch_or(abi::kOwnerGone); }
  void loseCollectorAndRoom() const {
    unseen_->orphan_kib = abi::kMaxOrphanKib;
    loseCollector();
  }
  void findCollector() const { control_->collector_thread = 1; }
  void beat() const { control_->heartbeat_ns.store(nowNs()); }

  std::vector<std::unique_ptr<ArenaFile>> arenas() const {
    std::vector<std::unique_ptr<ArenaFile>> result;
    for (const auto &file : std::filesystem::directory_iterator(path_))
      if (file.path().extension() == ".rings" && file.file_size() >= abi::kHeaderBytes)
        if (auto arena = std::make_unique<ArenaFile>(file.path());
            arena->header().magic.load() == abi::ArenaHeader::kMagic)
          result.push_back(std::move(arena));
    return result;
  }

  // Runs `body` in a child that belongs to this session. Returns the child's exit status, or 1000 + the number of the
  // signal that ended it.
  int runChild(const std::function<void()> &body) const { return waitFor(startChild(body)); }

  pid_t startChild(const std::function<void()> &body) const {
    const pid_t pid = ::fork();
    if (pid != 0)
      return pid;
    ::setenv(abi::kSessionVariable, path_.c_str(), 1);
    body();
    ::_exit(0);
  }

  static int waitFor(pid_t pid) {
    int status = 0;
    ::waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }

  // Returns the events of all rings, ring by ring.
  std::vector<ReadEvent> drain() const {
    std::vector<ReadEvent> events;
    for (const auto &arena : arenas())
      for (uint32_t i = 0; i < arena->ringCount(); ++i)
        if (arena->covers(i))
          arena->drain(i, events);
    return events;
  }

  // Drains the rings and writes heartbeats until the child has ended, and then drains them once more. Maps the files
  // again in each round, so new rings are seen.
  std::vector<ReadEvent> collectFrom(pid_t pid, int *status) const {
    std::vector<ReadEvent> events;
    for (bool gone = false; !gone;) {
      int raw = 0;
      gone = ::waitpid(pid, &raw, WNOHANG) == pid;
      if (gone)
        *status = WIFEXITED(raw) ? WEXITSTATUS(raw) : 1000 + WTERMSIG(raw);
      beat();
      const auto more = drain();
      events.insert(events.end(), more.begin(), more.end());
      if (more.empty() && !gone)
        ::usleep(200);
    }
    return events;
  }

private:
  // Creates a file of one page. Returns null if there is no room. A session also works without the page of unseen
  // processes.
  void *makePage(const char *name) const {
    const int fd = ::open((path_ / name).c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
    const bool room = ::posix_fallocate(fd, 0, abi::kHeaderBytes) == 0;
    void *page = room ? ::mmap(nullptr, abi::kHeaderBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : nullptr;
    ::close(fd);
    if (!room)
      ::unlink((path_ / name).c_str());
    return page;
  }

  std::filesystem::path path_;
  abi::ControlPage *control_ = nullptr;
  abi::UnseenPage *unseen_ = nullptr;
};

inline Account sum(const std::vector<std::unique_ptr<ArenaFile>> &arenas) {
  Account total;
  for (const auto &arena : arenas) {
    for (const auto &[stream, account] : arena->accounts()) {
      total.produced += account.produced;
      total.dropped += account.dropped;
      total.stalled_ns += account.stalled_ns;
    }
    total.produced += arena->header().dropped_no_ring;
    total.dropped += arena->header().dropped_no_ring;
  }
  return total;
}

} // namespace msleaks::test
