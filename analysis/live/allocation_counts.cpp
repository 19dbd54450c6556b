#include "analysis/live/allocation_counts.h"

#include <algorithm>

namespace msleaks::analysis::inline live {
namespace {

// glibc always maps larger blocks, and never takes them from its heap.
constexpr uint64_t kAlwaysMappedBytes = 32 << 20;

bool hasOwnPages(const Block &block) {
  return block.heap == abi::Heap::Mapping || (block.heap == abi::Heap::Host && block.size >= kAlwaysMappedBytes);
}

// The growth of std::vector and std::string. std::string allocates one byte more than its capacity.
bool isDoubled(uint64_t from_bytes, uint64_t to_bytes) {
  return from_bytes != 0 && to_bytes + 1 >= 2 * from_bytes && to_bytes <= 2 * from_bytes + 1;
}

} // namespace

AllocationCount &AllocationCount::operator+=(const AllocationCount &other) {
  bytes += other.bytes;
  count += other.count;
  temporary += other.temporary;
  alive += other.alive;
  most_alive += other.most_alive;
  reallocs += other.reallocs;
  growth_steps += other.growth_steps;
  copied_bytes += other.copied_bytes;
  longest_chain = std::max(longest_chain, other.longest_chain);
  own_pages += other.own_pages;
  own_pages_bytes += other.own_pages_bytes;
  cleared_bytes += other.cleared_bytes;
  usual_size += other.usual_size;
  return *this;
}

void AllocationCounts::Time::reach(uint64_t time_ns) {
  first_ns = std::min(first_ns, time_ns);
  last_ns = std::max(last_ns, time_ns);
}

// Adds time to the last thread that threadOf() was asked for.
void AllocationCounts::reach(Thread &thread, uint64_t time_ns) {
  if (thread.last_ns != 0)
    *of_thread_ns_ += time_ns - std::min(thread.last_ns, time_ns);
  thread.last_ns = time_ns;
  of_process_->time.reach(time_ns);
}

void AllocationCounts::addNew(const Block &block, AllocationCount &count) {
  count.bytes += block.size;
  ++count.count;
  count.usual_size.vote(block.size);
  if (hasOwnPages(block)) {
    ++count.own_pages;
    count.own_pages_bytes += block.size;
  } else if (block.zeroed) {
    count.cleared_bytes += block.size;
  }
}

void AllocationCounts::addStep(Last &to, AllocationCount &count, uint32_t steps, uint64_t copied_bytes) {
  elementAt(steps_, to.id.index) = steps;
  to.is_step = true;
  to.copied_bytes = copied_bytes;
  ++count.growth_steps;
  count.copied_bytes += copied_bytes;
  count.longest_chain = std::max<uint64_t>(count.longest_chain, steps);
}

// A block that does not grow takes no step, but keeps its number of steps. The kernel moves a mapping without a copy.
void AllocationCounts::onReallocated(const Block &block, Last &last, AllocationCount &count, const GivenBack &old) {
  ++count.reallocs;
  last.is_reallocated = true;
  if (old.size != 0 && block.size > old.size)
    addStep(last, count, old.steps + 1, block.address != old.address && !hasOwnPages(block) ? old.size : 0);
  else
    steps_[block.id.index] = old.steps;
}

void AllocationCounts::onAlloc(const Block &block, AllocCause cause, uint64_t time_ns) {
  if (block.reserve)
    return;
  Thread &thread = threadOf(block.process, block.stream);
  reach(thread, time_ns);
  AllocationCount &count = of(block.cohort);
  count.most_alive = std::max(count.most_alive, ++count.alive);
  elementAt(steps_, block.id.index) = cause == AllocCause::Restored ? std::exchange(thread.given_back, {}).steps : 0;
  if (cause != AllocCause::Allocated && cause != AllocCause::Reallocated)
    return;
  addNew(block, count);
  thread.last = {block.id, block.cohort, block.size};
  if (cause == AllocCause::Reallocated)
    onReallocated(block, thread.last, count, std::exchange(thread.given_back, {}));
}

// A container that grows allocates a larger block, moves its content, and frees the smaller block.
void AllocationCounts::onFreed(const Block &block, Last &last) {
  AllocationCount &count = of(block.cohort);
  if (last.id == block.id)
    ++count.temporary;
  else if (last.id.index != 0 && last.cohort == block.cohort && isDoubled(block.size, last.size))
    addStep(last, count, valueAt(steps_, block.id.index) + 1, block.size);
}

void AllocationCounts::onFree(const Block &block, FreeCause cause) {
  if (block.reserve)
    return;
  AllocationCount &count = of(block.cohort);
  count.alive -= count.alive != 0;
  if (cause == FreeCause::Reallocated)
    given_back_ = {block.address, block.size, valueAt(steps_, block.id.index)};
  Last &last = threadOf(block.process, block.stream).last;
  if (cause == FreeCause::Freed)
    onFreed(block, last);
  if (last.id == block.id)
    last = {};
}

// From its birth, the block belonged to the caller of the wrapper.
void AllocationCounts::onRetarget(const Block &block, const Block &before) {
  if (block.reserve || block.cohort == before.cohort)
    return;
  of(block.cohort); // may move the other elements
  AllocationCount &from = of(before.cohort), &to = of(block.cohort);
  from.bytes -= std::min(from.bytes, block.size);
  from.count -= from.count != 0;
  from.alive -= from.alive != 0;
  from.most_alive = std::min(from.most_alive, from.count); // it counted this block for a moment
  addNew(block, to);
  to.most_alive = std::max(to.most_alive, ++to.alive);
  Last &last = threadOf(block.process, block.stream).last;
  if (last.id != block.id)
    return;
  last.cohort = block.cohort;
  for (auto [sum, part] : {std::pair(&AllocationCount::reallocs, uint64_t{last.is_reallocated}),
                           std::pair(&AllocationCount::growth_steps, uint64_t{last.is_step}),
                           std::pair(&AllocationCount::copied_bytes, last.copied_bytes)}) {
    from.*sum -= part;
    to.*sum += part;
  }
  to.longest_chain = std::max<uint64_t>(to.longest_chain, valueAt(steps_, block.id.index));
}

void AllocationCounts::onProcessEnd(uint32_t process, uint64_t time_ns) { ends_[process] = time_ns; }

uint64_t AllocationCounts::nsOfThread(uint32_t process, uint32_t stream) const {
  const auto of = processes_.find(process);
  if (of == processes_.end())
    return 0;
  const auto at = of->second.threads.find(stream);
  return at == of->second.threads.end() ? 0 : at->second;
}

std::unordered_map<uint32_t, AllocationCounts::Time> AllocationCounts::ofProcesses() const {
  std::unordered_map<uint32_t, Time> times;
  for (const auto &[process, of] : processes_)
    if (of.time.last_ns != 0) {
      Time &time = times[process] = of.time;
      if (const auto end = ends_.find(process); end != ends_.end())
        time.last_ns = std::max(time.last_ns, end->second);
    }
  return times;
}

} // namespace msleaks::analysis::inline live
