#include "analysis/reach/page_access.h"

#include "analysis/base/machine.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace msleaks::analysis::inline reach {
namespace {

constexpr uint64_t kLeastPauseNs = 10'000'000, kPauseOfCost = 50;
// So the number of looks, and of events in the trace, grows with the logarithm of a long run's time.
constexpr uint64_t kPausesOfAge = 100, kPausesOfRest = 16;
constexpr uint64_t kBytesOfPart = uint64_t{512} << 20; // takes some ms, and then the rings are drained
constexpr uint64_t kBytesOfCall = 256 << 10;           // reading this many bytes' pages takes as long as the system
                                                       // call itself
constexpr size_t kMostBlocks = 100'000;

bool isHost(abi::Heap heap) { return heap == abi::Heap::Host || heap == abi::Heap::Mapping; }

// Whether the event allocates a block whose pages show its use. For a moved mapping, the state of its old pages is not
// known here.
bool isToLookAt(const abi::EventHeader &header) {
  if (header.kind != abi::EventKind::Alloc || (header.flags & (abi::kReserve | abi::kFile)) != 0)
    return false;
  return header.heap == abi::Heap::Host ||
         (header.heap == abi::Heap::Mapping && (header.flags & (abi::kListed | abi::kRealloc)) == 0);
}

// Returns the end of a range in an event. A range that wraps ends with the address space.
uint64_t endOf(uint64_t address, uint64_t size) {
  return isInAddressSpace(address, size) ? address + size : UINT64_MAX;
}

} // namespace

bool PageAccess::works() {
  if (!memory_)
    memory_.emplace(pid_);
  return memory_->tellsTouched();
}

bool PageAccess::begins(const abi::Slot &slot) const {
  return isToLookAt(slot.header) && abi::AnyEvent{{slot, {}}}.as<abi::AllocEvent>().size >= least_bytes_;
}

void PageAccess::follow(const abi::Slot &slot) {
  const abi::EventHeader &header = slot.header;
  if (isToLookAt(header)) {
    const auto alloc = abi::AnyEvent{{slot, {}}}.as<abi::AllocEvent>();
    add(header.heap, alloc.address, alloc.size, header.time);
  } else if (header.kind == abi::EventKind::Free && isHost(header.heap)) {
    const auto free = abi::AnyEvent{{slot, {}}}.as<abi::FreeEvent>();
    remove(header.heap, free.address, free.size, header.time);
  }
}

// Events of different threads do not come in the order of time. So a later block may already be known at this address.
void PageAccess::add(abi::Heap heap, uint64_t address, uint64_t size, uint64_t time_ns) {
  Blocks &blocks = of(heap);
  const auto found = blocks.find(address);
  if (found != blocks.end() && found->second.time_ns > time_ns)
    return;
  if (size < least_bytes_ || !isInAddressSpace(address, size)) {
    if (found != blocks.end())
      forget(blocks, found);
    return;
  }
  if (found == blocks.end() && blocks_[0].size() + blocks_[1].size() >= kMostBlocks) {
    ++left_out_;
    return;
  }
  blocks[address] = {size, time_ns};
  rest_until_ns_ = 0;
  told_.add(address, size, time_ns);
}

void PageAccess::remove(abi::Heap heap, uint64_t address, uint64_t size, uint64_t time_ns) {
  Blocks &blocks = of(heap);
  auto at = blocks.lower_bound(address);
  if (size > 0 && at != blocks.begin()) { // munmap may cut the end of the block before
    const auto before = std::prev(at);
    if (before->first + before->second.size > address)
      at = before;
  }
  const uint64_t end = endOf(address, std::max<uint64_t>(size, 1));
  while (at != blocks.end() && at->first < end)
    at = at->second.time_ns < time_ns ? forget(blocks, at) : std::next(at);
}

PageAccess::Blocks::iterator PageAccess::forget(Blocks &blocks, Blocks::iterator block) {
  told_.remove(block->first);
  return blocks.erase(block);
}

// Returns the touched bytes in a page that only partly belongs to the block. A page that is absent is not read, because
// reading would map it. A page that cannot be read counts as touched.
uint64_t PageAccess::touchedAtEnd(uint64_t begin, uint64_t end) const {
  const uint64_t page = begin / memory_->pageBytes() * memory_->pageBytes();
  std::vector<std::byte> bytes(end - begin);
  if (bytes.empty() || memory_->touched(page, page + memory_->pageBytes()).empty())
    return 0;
  const bool zero = memory_->read(begin, bytes) &&
                    std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{}; });
  return zero ? 0 : bytes.size();
}

// Continues with the block for at most `left` bytes, and subtracts the cost from `left`. True: the whole block was
// read.
bool PageAccess::readPages(uint64_t address, Block &block, uint64_t &left) {
  const uint64_t page = memory_->pageBytes(), end = address + block.size;
  const uint64_t first = std::min((address + page - 1) / page * page, end), last = std::max(end / page * page, first);
  if (block.looked_until == 0) {
    block.looked_until = first;
    block.touched_until = touchedAtEnd(address, first) + touchedAtEnd(last, end);
  }
  const uint64_t from = block.looked_until;
  block.looked_until += std::min(last - from, left / page * page);
  for (const ProcessMemory::Run &run : memory_->touched(from, block.looked_until))
    block.touched_until += run.end - run.begin;
  left -= std::min(left, std::max(block.looked_until - from, kBytesOfCall));
  return block.looked_until == last;
}

// Touched bytes stay touched, even if their pages are given back to the kernel.
void PageAccess::report(abi::Heap heap, uint64_t address, Block &block) {
  const uint64_t touched_bytes = std::max(block.touched_bytes, std::exchange(block.touched_until, 0));
  block.looked_until = 0;
  has_untouched_ |= touched_bytes == 0;
  if (block.known && touched_bytes == block.touched_bytes)
    return;
  block.known = true;
  block.touched_bytes = touched_bytes;
  if (touched_bytes == block.size)
    told_.remove(address); // further looks would find nothing new
  abi::PagesEvent event{};
  event.header.heap = heap;
  event.address = address;
  event.size = block.size;
  event.allocated_ns = block.time_ns;
  event.touched = touched_bytes;
  found_.push_back(event);
}

// Between two parts of a look, blocks may appear and disappear.
void PageAccess::lookOn(uint64_t left_bytes) {
  while (at_ && left_bytes > 0) {
    Blocks &blocks = blocks_[at_->heap];
    const auto found = blocks.lower_bound(at_->address);
    if (found == blocks.end()) {
      at_ = at_->heap + 1 < blocks_.size() ? std::optional(Position{at_->heap + 1, 0}) : std::nullopt;
      continue;
    }
    auto &[address, block] = *found;
    at_->address = address;
    if (!block.known || block.touched_bytes < block.size) {
      if (!readPages(address, block, left_bytes))
        continue;
      report(at_->heap == 0 ? abi::Heap::Host : abi::Heap::Mapping, address, block);
    }
    ++at_->address;
  }
}

const std::vector<abi::Slot> &PageAccess::look(uint64_t now_ns, bool at_exit) {
  const uint64_t cpu_ns = readClockNs(CLOCK_THREAD_CPUTIME_ID);
  events_.clear();
  if (!works())
    return events_;
  if (at_exit)
    lookOn(UINT64_MAX); // finishes the look that has begun
  if (!at_) {
    at_.emplace();
    begin_ns_ = now_ns;
    has_untouched_ = false;
  }
  lookOn(at_exit ? UINT64_MAX : kBytesOfPart);
  cost_ns_ += readClockNs(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
  if (!at_)
    endLook(std::max(readMonotonicNs(), now_ns), at_exit);
  return events_;
}

void PageAccess::rest(uint64_t now_ns) {
  if (first_ns_ == 0)
    first_ns_ = begin_ns_;
  if (!found_.empty())
    changed_ns_ = now_ns;
  next_ns_ = now_ns + std::max({kLeastPauseNs, cost_ns_ * kPauseOfCost, (now_ns - first_ns_) / kPausesOfAge});
  rest_until_ns_ = now_ns + (now_ns - changed_ns_) / kPausesOfRest;
  cost_ns_ = 0;
}

// Adds an event for the end of the look if something has changed. It is also needed if a block is still untouched,
// because the next look may find it touched.
void PageAccess::endLook(uint64_t now_ns, bool at_exit) {
  const uint64_t cpu_ns = readClockNs(CLOCK_THREAD_CPUTIME_ID);
  samples_.look(*memory_, now_ns, at_exit, found_);
  cost_ns_ += readClockNs(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
  rest(now_ns);
  if (at_exit)
    next_ns_ = UINT64_MAX;
  if (at_exit || has_untouched_ || !found_.empty()) {
    abi::PagesEvent all{};
    all.allocated_ns = begin_ns_;
    all.at_exit = at_exit;
    found_.push_back(all);
  }
  for (abi::PagesEvent &event : found_) {
    event.header = {abi::EventKind::Pages, event.header.heap, 0, 0, 0, now_ns};
    event.continuation = abi::kContinuationTag;
    const abi::AnyEvent any = abi::AnyEvent::from(event);
    events_.insert(events_.end(), std::begin(any.slots), std::end(any.slots));
  }
  found_.clear();
}

} // namespace msleaks::analysis::inline reach
