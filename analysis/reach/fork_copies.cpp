#include "analysis/reach/fork_copies.h"

#include "analysis/base/machine.h"
#include "analysis/trace/copied_pages.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace msleaks::analysis::inline reach {
namespace {

constexpr uint64_t kPauseOfChildNs = 200'000'000, kPauseOfForkCost = 25;
// So the number of looks grows with the logarithm of the child's age.
constexpr uint64_t kForkPausesOfAge = 20;
// A pass over 1 GiB of one process takes 30 ms.
constexpr uint64_t kPagesOfPart = 16 << 10;
constexpr uint64_t kLeastFrameBytes = 256 << 10, kMostFrames = 8192;
// Less inherited memory does not matter: there is only one look at it.
constexpr uint64_t kLeastInheritedBytes = 4 << 20;
constexpr size_t kMostChildren = 64; // each takes two open files

bool isOwn(const MappedRange &range) { return range.writable && (range.isAnonymous() || range.path == "[heap]"); }

} // namespace

PageTable pageTableOf(uint32_t pid) {
  const auto memory = std::make_shared<ProcessMemory>(pid);
  return {[memory] { return memory->maps(); },
          [memory](uint64_t begin, uint64_t end) { return memory->entriesOf(begin, end); }, memory->pageBytes()};
}

void ForkCopies::begin() {
  uint64_t bytes = 0;
  const std::vector<MappedRange> maps = child_.maps();
  for (const MappedRange &range : maps)
    bytes += isOwn(range) ? range.end - range.begin : 0;
  const uint64_t frame_bytes = std::max(kLeastFrameBytes, std::bit_ceil(bytes / kMostFrames));
  for (const MappedRange &range : maps)
    for (uint64_t at = range.begin; isOwn(range) && at < range.end && frames_.size() < 2 * kMostFrames;) {
      const uint64_t end = std::min(range.end, (at / frame_bytes + 1) * frame_bytes);
      frames_.push_back({.begin = at, .end = end});
      at = end;
    }
}

// False: a process has ended.
bool ForkCopies::read(Frame &frame) {
  const size_t count = (frame.end - frame.begin) / child_.page_bytes;
  const std::vector<uint64_t> of_child = child_.read(frame.begin, frame.end);
  const std::vector<uint64_t> of_parent = parent_.read(frame.begin, frame.end);
  if (of_child.size() != count || of_parent.size() != count)
    return false;
  if (frame.inherited.empty()) {
    frame.inherited.resize(count);
    for (size_t i = 0; i < count; ++i)
      frame.inherited[i] = isAnonymousPage(of_child[i]) && isAnonymousPage(of_parent[i]);
    if (std::ranges::count(frame.inherited, true) == 0)
      frame.inherited = {}; // the address space may be much larger than the memory
  }
  frame.copied = 0;
  for (size_t i = 0; i < frame.inherited.size(); ++i)
    if (frame.inherited[i] && isAnonymousPage(of_child[i]) && (of_child[i] & kPageExclusive) != 0 &&
        (of_parent[i] & (kPagePresent | kPageSwapped)) != 0)
      frame.copied += child_.page_bytes;
  return true;
}

bool ForkCopies::lookOn(uint64_t now_ns) {
  events_.clear();
  if (first_ns_ == 0) {
    first_ns_ = now_ns;
    begin();
  }
  for (uint64_t left = kPagesOfPart; at_ < frames_.size() && left > 0; ++at_) {
    if (!read(frames_[at_])) {
      frames_.clear();
      next_ns_ = UINT64_MAX;
      return true;
    }
    left -= std::min(left, (frames_[at_].end - frames_[at_].begin) / child_.page_bytes);
  }
  if (at_ < frames_.size())
    return false;
  end(std::max(now_ns, readMonotonicNs()));
  return true;
}

void ForkCopies::end(uint64_t now_ns) {
  // Memory of which no page is inherited needs no further look.
  std::erase_if(frames_, [](const Frame &frame) { return frame.inherited.empty(); });
  uint64_t inherited_bytes = 0;
  std::vector<abi::PagesEvent> found;
  for (Frame &frame : frames_) {
    inherited_bytes += static_cast<uint64_t>(std::ranges::count(frame.inherited, true)) * child_.page_bytes;
    if (frame.copied == frame.told)
      continue;
    abi::PagesEvent event{};
    event.header = {abi::EventKind::Pages, abi::Heap::Host, 0, 0, 0, now_ns};
    event.continuation = abi::kContinuationTag;
    event.address = frame.begin;
    event.size = frame.end - frame.begin;
    event.touched = frame.told = frame.copied;
    event.at_exit = kPagesCopied | uint64_t{parent_number_} << kCopiedParentBit;
    found.push_back(event);
  }
  for (size_t i = 0; i < found.size(); ++i) {
    found[i].allocated_ns = found.size() - i - 1;
    const abi::AnyEvent any = abi::AnyEvent::from(found[i]);
    events_.insert(events_.end(), std::begin(any.slots), std::end(any.slots));
  }
  at_ = 0;
  next_ns_ = inherited_bytes < kLeastInheritedBytes
                 ? UINT64_MAX
                 : now_ns + std::max(kPauseOfChildNs, (now_ns - first_ns_) / kForkPausesOfAge);
}

void ForkLooks::add(uint32_t process, uint32_t pid, uint32_t parent, uint32_t parent_pid) {
  if (children_.size() < kMostChildren)
    children_.try_emplace(process, open_(pid), open_(parent_pid), parent);
}

std::optional<std::pair<uint32_t, std::vector<abi::Slot>>> ForkLooks::lookOn(uint64_t now_ns) {
  if (now_ns < next_ns_ || children_.empty())
    return std::nullopt;
  const auto due = std::ranges::min_element(children_, {}, [](const auto &child) { return child.second.nextNs(); });
  if (now_ns < due->second.nextNs())
    return std::nullopt;
  const uint64_t cpu_ns = readClockNs(CLOCK_THREAD_CPUTIME_ID);
  const bool is_end = due->second.lookOn(now_ns);
  next_ns_ = now_ns + (readClockNs(CLOCK_THREAD_CPUTIME_ID) - cpu_ns) * kPauseOfForkCost;
  if (!is_end)
    return std::nullopt;
  auto found = std::pair(due->first, due->second.events());
  if (due->second.nextNs() == UINT64_MAX)
    children_.erase(due);
  return found;
}

} // namespace msleaks::analysis::inline reach
