// One list of events in a memory snapshot of PyTorch: the blocks of a device, or of host memory, and the segments that
// contain them. It becomes the events of one thread.
#pragma once

#include "analysis/importers/foreign_run.h"
#include "analysis/live/cohort_sums.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace msleaks::analysis::inline importers {

class SnapshotLane {
public:
  // Device: parts of a device's memory. PinnedPool: parts of page-locked memory. The lists Host and Pools are only in
  // snapshots of `msleaks export`: there, the metadata of a block tells its heap.
  enum class Kind : uint8_t { Device, PinnedPool, Host, Pools };
  struct NewBlock {
    uint64_t address, size, time_ns;
    uint32_t site;
    std::string_view owner, heap;
  };

  // `begin_ns`: the time of the snapshot's first event.
  SnapshotLane(ForeignRun &run, ForeignRun::Process &process, Kind kind, uint64_t device, uint32_t tid, bool is_ours,
               uint64_t begin_ns)
      : run_(run), process_(process), kind_(kind),
        device_(kind == Kind::Device ? static_cast<uint8_t>(std::min<uint64_t>(device, UINT8_MAX)) : uint8_t{0}),
        tid_(tid), has_only_segments_(is_ours && kind == Kind::Device), begin_ns_(begin_ns) {}

  ForeignRun::Process &process() { return process_; }
  // The events, in their order.
  void alloc(const NewBlock &);
  void free(uint64_t address, uint64_t size, uint64_t time_ns);
  void map(uint64_t address, uint64_t size, uint64_t time_ns, uint32_t site);
  void unmap(uint64_t address, uint64_t size, uint64_t time_ns);
  void refuse(uint64_t size, uint64_t time_ns, uint32_t site);
  void own(uint64_t address, std::string_view owner, uint64_t time_ns);
  // Then the state at the end.
  void mappedAtEnd(uint64_t address, uint64_t size, uint32_t site);
  void aliveAtEnd(uint64_t address, uint64_t size, uint32_t site);
  // Adds all events to the run. Those of blocks that are older than the first event come first.
  void write();
  // Blocks of the program, not segments, without an event of their allocation.
  BlockSum olderBlocks() const;

private:
  struct Planned {
    abi::AnyEvent event;
    bool is_block; // of the program, not of the driver
  };
  struct Block {
    abi::Heap heap;
    bool is_alive;
  };
  struct Segment {
    uint64_t bytes = 0;
    uint32_t site = 0;
  };

  // The heap of a segment, and of a block whose heap is not told.
  abi::Heap segmentHeap() const { return kind_ == Kind::Device ? abi::Heap::Device : abi::Heap::Pinned; }
  abi::Heap blockHeap() const { return kind_ == Kind::Host ? abi::Heap::Host : abi::Heap::Pool; }
  template <class Event> Event in(abi::Heap heap) const {
    Event event{};
    event.header.heap = heap;
    event.header.device = device_;
    return event;
  }
  abi::AllocEvent allocIn(abi::Heap heap, uint64_t address, uint64_t size) const;
  template <class Event> void plan(Event event, uint64_t time_ns, bool is_block, uint32_t site = 0);
  void planSegment(uint64_t address, const Segment &, uint64_t time_ns, uint32_t flags = 0);
  void planSegmentFree(uint64_t address, uint64_t time_ns, uint32_t flags = 0);
  void release(uint64_t address, uint64_t end, uint64_t time_ns);
  void addOlder(abi::Heap heap, uint64_t address, uint64_t size, uint32_t site = 0);
  // Calls f for each part of the range that is in no live segment.
  template <class F> void forEachGap(uint64_t address, uint64_t end, F &&f) const;

  ForeignRun &run_;
  ForeignRun::Process &process_;
  Kind kind_;
  uint8_t device_;
  uint32_t tid_;
  // Whether each block was a whole segment so far. In a snapshot of `msleaks export`, such a list has no pool.
  bool has_only_segments_;
  uint64_t begin_ns_, last_ns_ = 0;
  std::map<uint64_t, Block> blocks_;     // by address, also those that were freed
  std::map<uint64_t, Segment> segments_; // alive, by address; they do not overlap
  std::vector<Planned> planned_;
  std::vector<abi::AllocEvent> older_;
};

} // namespace msleaks::analysis::inline importers
