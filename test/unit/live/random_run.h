// Creates a random run with everything that the live set handles:
//
// - blocks of every kind, reallocs, refusals, and parts of mappings
// - mapped device addresses and shared memory
// - owners, ranges, steps, marks and pauses
// - nodes of PyTorch's backward pass
// - several processes with several threads
//
// Some events are so close that the clock differences between threads matter.
#pragma once

#include "events.h"

#include "analysis/places/labels.h"
#include "msleaks/abi/session.h"
#include "msleaks/abi/torch_node.h"

#include "../places/definition_bytes.h"

#include <deque>
#include <random>
#include <string>

namespace msleaks::test {

class RandomRun {
public:
  static constexpr uint32_t kProcesses = 3, kStreams = 3, kLabels = 4, kNodeLabel = 9;

  explicit RandomRun(uint64_t seed, uint64_t begin_ns = 0) : random_(seed), time_ns_(begin_ns) {}

  // Returns the definitions of the labels 1 to kLabels and kNodeLabel, for one process of the run. The sites are not
  // defined.
  static Records labels() {
    Records records;
    for (uint32_t number = 1; number <= kLabels; ++number)
      records.label(number, "label " + std::to_string(number));
    records.label(kNodeLabel, abi::kTorchNodeLabel);
    return records;
  }

  // Returns the next event. Its site, if it has one, is 1, 2 or 3. Times never decrease.
  analysis::StreamEvent next() {
    while (waiting_.empty())
      happen();
    const analysis::StreamEvent event = waiting_.front();
    waiting_.pop_front();
    return event;
  }
  // Returns the time of the last event.
  uint64_t now() const { return time_ns_; }

private:
  static constexpr uint64_t kPage = 4096;

  uint64_t pick(uint64_t low, uint64_t high) { return std::uniform_int_distribution<uint64_t>(low, high)(random_); }
  uint64_t tick() {
    static constexpr uint64_t kSteps[] = {0, 1, 20, 700, 5'000, 1'000'000};
    return time_ns_ += kSteps[pick(0, 5)];
  }
  void add(const analysis::StreamEvent &event) { waiting_.push_back(event); }
  template <class Event> void say(uint64_t first, uint64_t second = 0) {
    add(make<Event>(tick(), here_, first, second));
  }
  Where here(abi::Heap heap, uint16_t flags = 0, uint8_t device = 0) const {
    Where where = here_;
    where.heap = heap;
    where.flags = flags;
    where.device = device;
    return where;
  }
  uint64_t anyAddress() { return 0x1000 + 64 * pick(0, 200); }
  uint64_t anyPages() { return (pick(0, 60) + 16) * kPage; }
  uint64_t anyPageBytes() { return pick(1, 12) * kPage - (pick(0, 1) != 0 ? pick(0, kPage - 1) : 0); }

  void happen() {
    here_ = {.process = static_cast<uint32_t>(pick(1, kProcesses)),
             .stream = static_cast<uint32_t>(pick(0, kStreams - 1)),
             .site = static_cast<uint32_t>(pick(1, 3))};
    switch (pick(0, 16)) {
    case 16:
      return range();
    case 0:
    case 1:
    case 2:
      return add(alloc(tick(), anyAddress(), pick(0, 1000), here(abi::Heap::Host)));
    case 3:
    case 4:
      return add(free(tick(), anyAddress(), here(abi::Heap::Host)));
    case 5:
      return reallocate();
    case 6:
      return device();
    case 7:
      return pool();
    case 8:
    case 9:
      return map();
    case 10:
      return unmap();
    case 11:
      return add(protect(tick(), anyPages(), anyPageBytes(), pick(0, 1) != 0 ? abi::kReserve : 0, here_.process));
    case 12:
      return add(retarget(tick(), anyAddress(), here(abi::Heap::Host)));
    case 13:
      return add(owned(tick(), anyAddress() + pick(0, 8), pick(0, 3), here(abi::Heap::Host)));
    case 14:
      return add(allocFailed(tick(), pick(1, 1000), here(abi::Heap::Host)));
    default:
      return tell();
    }
  }

  void reallocate() {
    const uint64_t old = anyAddress();
    add(free(tick(), old, here(abi::Heap::Host, abi::kRealloc)));
    if (pick(0, 2) == 0)
      add(alloc(tick(), 0, 0, here(abi::Heap::Host, abi::kRealloc | abi::kRestored)));
    else
      add(alloc(tick(), anyAddress(), pick(0, 1000), here(abi::Heap::Host, abi::kRealloc)));
  }
  // Adds an event of a reference-counted block of a device. Some blocks have a handle. Some frees are refused.
  void device() {
    const uint64_t address = anyAddress();
    const Where where = here(abi::Heap::Device, 0, static_cast<uint8_t>(pick(0, 2)));
    switch (pick(0, 3)) {
    case 0:
    case 1:
      return add(alloc(tick(), address, pick(1, 100'000),
                       here(abi::Heap::Device, pick(0, 1) != 0 ? abi::kDriver : 0, where.device)));
    case 2:
      return add(retain(tick(), address, where));
    default:
      add(free(tick(), address, where));
      if (pick(0, 3) == 0)
        add(alloc(tick(), address, 0, here(abi::Heap::Device, abi::kRestored)));
    }
  }
  // Maps device addresses to a device's block, or unmaps them. Some unmappings are refused.
  void range() {
    const uint64_t address = 0x7000'0000 + 64 * pick(0, 20), bytes = 64 * pick(1, 4);
    const Where where = here(abi::Heap::Device, 0, static_cast<uint8_t>(pick(0, 2)));
    if (pick(0, 2) != 0)
      return add(mapped(tick(), address, bytes, anyAddress(), where));
    add(mapped(tick(), address, bytes, 0, where));
    if (pick(0, 3) == 0)
      add(mapped(tick(), address, bytes, 0, here(abi::Heap::Device, abi::kRestored)));
  }
  void pool() {
    const uint64_t address = anyAddress() + 16;
    if (pick(0, 1) != 0)
      add(alloc(tick(), address, 16, here(abi::Heap::Pool)));
    else
      add(free(tick(), address, here(abi::Heap::Pool)));
  }
  void map() {
    static constexpr uint16_t kKinds[] = {0, 0, abi::kReserve, abi::kReserve | abi::kFile};
    const uint64_t address = anyPages(), bytes = anyPageBytes();
    if (pick(0, 2) == 0)
      add(shared(tick(), address, bytes, pick(1, 2), pick(0, 5) * kPage, here(abi::Heap::Mapping)));
    if (pick(0, 9) != 0)
      add(alloc(tick(), address, bytes, here(abi::Heap::Mapping, kKinds[pick(0, 3)])));
  }
  void unmap() {
    const uint64_t address = anyPages();
    add(free(tick(), address, here(abi::Heap::Mapping), anyPageBytes()));
    if (pick(0, 2) == 0)
      add(alloc(tick(), address, 0, here(abi::Heap::Mapping, abi::kRestored)));
  }
  // Adds an event that the program itself reports: an owner, a range, a step or a mark. In rare cases, adds a change of
  // the recorded kinds of events.
  void tell() {
    const uint64_t label = pick(1, kLabels + 1); // one of these labels is undefined
    switch (pick(0, 9)) {
    case 8:
    case 9:
      return say<abi::CounterEvent>(pick(0, 3) != 0 ? kNodeLabel : label, pick(0, 2) != 0 ? anyAddress() : 0);
    case 0:
    case 1:
      return say<abi::OwnerPushEvent>(label);
    case 2:
      return say<abi::OwnerPopEvent>(pick(0, 1) != 0 ? label : 0);
    case 3:
      return say<abi::RangeBeginEvent>(label, pick(0, 3));
    case 4:
      return say<abi::RangeEndEvent>(pick(0, 3));
    case 5:
      return say<abi::StepEvent>(++steps_);
    case 6:
      return say<abi::MarkEvent>(label);
    default:
      if (pick(0, 19) == 0)
        add(epoch(tick(), pick(0, 1) != 0 ? UINT64_MAX : abi::enabledBit(abi::EventKind::Free)));
    }
  }

  std::mt19937_64 random_;
  uint64_t time_ns_, steps_ = 0;
  Where here_;
  std::deque<analysis::StreamEvent> waiting_;
};

} // namespace msleaks::test
