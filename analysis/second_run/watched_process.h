// A process that watches blocks, and its threads, as the tracer knows them.
#pragma once

#include "analysis/reach/process_memory.h"
#include "analysis/second_run/call_buffers.h"
#include "analysis/second_run/guarded_blocks.h"
#include "analysis/second_run/tracer.h"
#include "msleaks/abi/guarded.h"

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace msleaks::analysis::inline second_run {

// The watched blocks of one process: what is in them, and the pages that they lie on.

// Pages that nobody can write while they are closed.
struct ClosablePages {
  PageRange range;
  int protection = 0; // while they are open (PROT_READ | PROT_WRITE …)
  int closed() const;
  SystemCall setting(bool closed) const; // the call that closes or opens them
  bool operator==(const ClosablePages &other) const {
    return range.begin == other.range.begin && range.end == other.range.end && protection == other.protection;
  }
};

// The writable pages on which the block lies, without those that hold something of `untouchable`: a thread's control
// block, which the kernel writes whenever it likes.
std::vector<ClosablePages> pagesOf(std::span<const MappedRange> mapped, PageRange block, uint64_t page_bytes,
                                   std::span<const PageRange> untouchable);

// Bytes of a block that have changed: from the first up to behind the last one, counted from its beginning.
struct ChangedBytes {
  uint64_t begin = 0, end = 0;
};

class WatchedBlock {
public:
  // `read`: memory of the process, as much as is there.
  using Read = std::function<uint64_t(uint64_t address, std::span<std::byte>)>;

  WatchedBlock(PageRange bytes, std::vector<ClosablePages> pages) : bytes_(bytes), pages_(std::move(pages)) {}

  PageRange bytes() const { return bytes_; }
  const std::vector<ClosablePages> &pages() const { return pages_; }
  bool liesOn(uint64_t address) const { return liesOn(Buffer{address, 1}); } // on one of its pages
  bool liesOn(const Buffer &) const;

  // What of it is there, from now on: nothing has changed.
  void keep(const Read &);
  // What has changed within these addresses since they were kept; they are kept anew.
  std::optional<ChangedBytes> change(PageRange within, const Read &);

private:
  PageRange bytes_;
  std::vector<ClosablePages> pages_;
  std::vector<std::byte> content_;
};

// What a guard call says, until it is over.
struct Told {
  abi::GuardCall what{};
  uint64_t address = 0, bytes = 0;
  std::string text;
};

struct WatchingThread {
  bool is_repeated = false;   // its call: what that is given, is open
  uint64_t control_block = 0; // when its last call began; 0: not known
  std::vector<std::string> ranges;
  std::optional<Told> told;
  std::vector<Buffer> given;          // to its call, on watched pages
  bool is_given_all = false;          // nobody knows what it is given
  std::optional<siginfo_t> kept = {}; // of a signal that is sent again

  bool holdsPages() const { return is_given_all || !given.empty(); }
};

struct WatchingProcess {
  std::list<WatchedBlock> blocks;
  bool is_watched = false; // or was: all its calls stop
  bool is_closed = false;  // its blocks' pages
  bool is_known = false;   // what is in its blocks, so that what changes while they are open is seen, too
  std::optional<uint64_t> step;

  bool liesOn(const Buffer &buffer) const {
    return std::ranges::any_of(blocks, [&](const WatchedBlock &block) { return block.liesOn(buffer); });
  }
};

inline WatchingThread &watchingOf(TracedThread &thread) { return thread.as<WatchingThread>(); }
inline WatchingProcess &processOf(const TracedThread &thread) { return thread.space->as<WatchingProcess>(); }
// The memory of its process.
WatchedBlock::Read memoryOf(const TracedThread &);
// Whether a thread of its process is so.
bool anyOfProcess(const TracedThread &, const std::function<bool(const WatchingThread &)> &);
// The thread closes or opens the pages of all blocks of its process.
void setPages(const TracedThread &, bool closed);
std::string textAt(pid_t process, uint64_t address); // 0: none

} // namespace msleaks::analysis::inline second_run
