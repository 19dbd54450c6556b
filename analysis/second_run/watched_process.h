// Stores the watched blocks of a process, and the state of its threads.
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

// Pages to which no thread can write while they are closed.
struct ClosablePages {
  PageRange range;
  int protection = 0; // protection of the open pages (PROT_READ | PROT_WRITE …)
  int closed() const;
  SystemCall setting(bool closed) const; // returns the call that closes or opens the pages
  bool operator==(const ClosablePages &other) const {
    return range.begin == other.range.begin && range.end == other.range.end && protection == other.protection;
  }
};

// Returns the writable pages of the block, without pages that contain a part of `untouchable`. These are the control
// blocks of threads, because the kernel may write into them at any time.
std::vector<ClosablePages> pagesOf(std::span<const MappedRange> mapped, PageRange block, uint64_t page_bytes,
                                   std::span<const PageRange> untouchable);

// The range from the first changed byte of a block to the end of the last one, as offsets from the block's beginning.
struct ChangedBytes {
  uint64_t begin = 0, end = 0;
};

class WatchedBlock {
public:
  // Reads memory of the process as far as it is mapped, and returns the number of bytes.
  using Read = std::function<uint64_t(uint64_t address, std::span<std::byte>)>;

  WatchedBlock(PageRange bytes, std::vector<ClosablePages> pages) : bytes_(bytes), pages_(std::move(pages)) {}

  PageRange bytes() const { return bytes_; }
  const std::vector<ClosablePages> &pages() const { return pages_; }
  bool liesOn(uint64_t address) const {
    return liesOn(Buffer{address, 1});
  } // whether it is on one of the block's pages
  bool liesOn(const Buffer &) const;

  // Stores a copy of the block's content.
  void keep(const Read &);
  // Returns which bytes in this range differ from the copy, and updates the copy.
  std::optional<ChangedBytes> change(PageRange within, const Read &);

private:
  PageRange bytes_;
  std::vector<ClosablePages> pages_;
  std::vector<std::byte> content_;
};

// The content of a guard call, until the call ends.
struct Told {
  abi::GuardCall what{};
  uint64_t address = 0, bytes = 0;
  std::string text;
};

struct WatchingThread {
  bool is_repeated = false;   // its call begins again, with open pages
  uint64_t control_block = 0; // its address at the beginning of the last call. 0: not known
  std::vector<std::string> ranges;
  std::optional<Told> told;
  std::vector<Buffer> given;          // the buffers of its call on watched pages
  bool is_given_all = false;          // the buffers of its call are not known
  std::optional<siginfo_t> kept = {}; // information of a signal that is sent again

  bool holdsPages() const { return is_given_all || !given.empty(); }
};

struct WatchingProcess {
  std::list<WatchedBlock> blocks;
  bool is_watched = false; // a block is or was watched, so all system calls stop
  bool is_closed = false;  // the pages of its blocks are closed
  bool is_known = false;   // the copies of its blocks are valid, so changes are found even while the pages are open
  std::optional<uint64_t> step;

  bool liesOn(const Buffer &buffer) const {
    return std::ranges::any_of(blocks, [&](const WatchedBlock &block) { return block.liesOn(buffer); });
  }
};

inline WatchingThread &watchingOf(TracedThread &thread) { return thread.as<WatchingThread>(); }
inline WatchingProcess &processOf(const TracedThread &thread) { return thread.space->as<WatchingProcess>(); }
// Returns a function that reads the memory of the thread's process.
WatchedBlock::Read memoryOf(const TracedThread &);
// Whether the function returns true for a thread of the process.
bool anyOfProcess(const TracedThread &, const std::function<bool(const WatchingThread &)> &);
// Makes the thread close or open the pages of all blocks of its process.
void setPages(const TracedThread &, bool closed);
std::string textAt(pid_t process, uint64_t address); // the text of address 0 is empty

} // namespace msleaks::analysis::inline second_run
