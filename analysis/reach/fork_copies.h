// Finds how much of the memory that a fork's child has inherited was copied since the fork.
//
// After a fork, parent and child share all pages. If one of them writes to a page, the kernel copies the page. So a
// page is copied if only the child maps it, and the parent has a page at the same address, too. Pages that the child
// maps after the first look do not count. But the kernel also copies a page if the child frees a block in it and
// allocates another one.
#pragma once

#include "analysis/reach/process_memory.h"
#include "msleaks/abi/events.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline reach {

// The page table of a process. `read` returns the entries of /proc/PID/pagemap; none: the process has ended.
struct PageTable {
  std::function<std::vector<MappedRange>()> maps;
  std::function<std::vector<uint64_t>(uint64_t begin, uint64_t end)> read;
  uint64_t page_bytes = 4096;
};
PageTable pageTableOf(uint32_t pid);

// The looks at one child.
class ForkCopies {
public:
  ForkCopies(PageTable child, PageTable parent, uint32_t parent_number)
      : child_(std::move(child)), parent_(std::move(parent)), parent_number_(parent_number) {}

  // Continues the look. Returns true at its end: then the next one is due at nextNs(), and events() are valid until the
  // next call.
  bool lookOn(uint64_t now_ns);
  uint64_t nextNs() const { return next_ns_; }
  const std::vector<abi::Slot> &events() const { return events_; }

private:
  struct Frame {
    uint64_t begin = 0, end = 0;
    uint64_t copied = 0, told = 0; // bytes, as the current look has found, and as the last event tells
    std::vector<bool> inherited;   // of each page; empty if no page is
  };

  void begin();
  bool read(Frame &);
  void end(uint64_t now_ns);

  PageTable child_, parent_;
  uint32_t parent_number_;
  uint64_t first_ns_ = 0, next_ns_ = 0;
  size_t at_ = 0; // the frame where the look continues
  std::vector<Frame> frames_;
  std::vector<abi::Slot> events_;
};

// The looks at all children of a session. Together, they take at most a twenty-fifth of the time.
class ForkLooks {
public:
  using Open = std::function<PageTable(uint32_t pid)>;
  explicit ForkLooks(Open open = pageTableOf) : open_(std::move(open)) {}

  // Numbers are those of the trace, and pids those of the collector's pid namespace. Too many children are ignored.
  void add(uint32_t process, uint32_t pid, uint32_t parent, uint32_t parent_pid);
  void forget(uint32_t process) { children_.erase(process); }
  // If a look is due, continues it for some ms. Returns the process and its events at the end of a look.
  std::optional<std::pair<uint32_t, std::vector<abi::Slot>>> lookOn(uint64_t now_ns);

private:
  Open open_;
  uint64_t next_ns_ = 0;
  std::unordered_map<uint32_t, ForkCopies> children_;
};

} // namespace msleaks::analysis::inline reach
