// The live blocks. It takes events, and reports births and deaths of blocks to observers, in the order of the events.
//
// Its memory grows with the live blocks, and never with the number of events. Each process has tables of its own, one
// for each address space. So the end of a process takes time only for its own live blocks.
#pragma once

#include "analysis/base/tables.h"
#include "analysis/live/cohorts.h"
#include "analysis/live/contexts.h"
#include "analysis/live/pauses.h"
#include "analysis/live/timeline.h"
#include "analysis/live/use.h"
#include "analysis/places/site.h"
#include "analysis/trace/bytes.h"
#include "analysis/trace/trace_reader.h"
#include "msleaks/abi/events.h"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis::inline live {

using abi::AddressSpace;
using abi::spaceOf;

// The number of a live block; 0 = none. The number of a dead block is given to a new block, so numbers stay dense.
// Analyzers keep vectors by number, whose size is the largest number of blocks that were alive at the same time.
struct BlockId {
  uint32_t index = 0;
  constexpr auto operator<=>(const BlockId &) const = default;
};

struct Block {
  uint64_t address = 0;
  uint64_t size = 0; // as the caller asked for
  uint64_t time_ns = 0;
  SiteId site;
  uint32_t stream = 0; // the thread that allocated it
  uint32_t process = 0;
  CohortId cohort;
  BlockId id;
  uint16_t refs : 12 = 1;  // owners of a counted block
  uint16_t zeroed : 1 = 0; // filled with zeros by the allocator; known until a checkpoint
  uint16_t reserve : 1 =
      0;                   // no memory of its own: only addresses, a file's pages, or another heap's block (backings.h)
  uint16_t file : 1 = 0;   // a file's pages, whatever their protection
  uint16_t handle : 1 = 0; // its address is a number of the driver (a cl_mem), and no address of a byte
  abi::Heap heap = abi::Heap::Host;
  uint8_t device = 0; // or the number of units of a sample (python_sample.h)

  uint64_t bytes() const { return reserve ? 0 : size; } // the bytes that it adds to its heap
};
static_assert(sizeof(Block) == 48);

enum class AllocCause : uint8_t {
  Allocated,
  Reallocated, // the new block of a realloc
  Restored,    // a realloc failed: the old block is alive again, unchanged
  Remainder,   // the rest of a block after a partial munmap, a mapping over a part, or mprotect
  WasThere,    // alive at the start of the report's window; no birth
};

enum class FreeCause : uint8_t {
  Freed,
  Reallocated,   // first half of a realloc: comes back as Restored if the realloc fails
  Replaced,      // its address was allocated again: its free was not seen, or a mapping was put over it
  Remainder,     // a part of it was unmapped or changed; its parts follow as new blocks
  ProcessExited, // the process ended, or disappeared: nobody can free the block any more
  ProcessKilled, // a signal killed the process
  ProcessExec,   // another program replaced the image
  StillAlive,    // the trace ends before the process does
};

// Whether the block was alive when its process image ended for any reason.
constexpr bool isEnd(FreeCause cause) { return cause >= FreeCause::ProcessExited; }
// Receives births and deaths of blocks. A free as Remainder comes before the births of the parts, so that sums are
// never too large. `time_ns` is the time of the change; block.time_ns is the time of the allocation.
class BlockObserver {
public:
  virtual ~BlockObserver() = default;
  // Whether the observer needs the births and deaths of blocks of this heap. A sample has an account of its own.
  virtual bool wants(abi::Heap heap) const { return heap != abi::Heap::Python; }
  virtual void onAlloc(const Block &, AllocCause, uint64_t time_ns) = 0;
  virtual void onFree(const Block &, FreeCause, uint64_t time_ns) = 0;
  // The live block has belonged to block.site, and to the owner of block.cohort, since its birth. Until now it was
  // treated as `before`.
  virtual void onRetarget(const Block &, const Block &before, uint64_t time_ns) = 0;
  // A launch, copy or fill uses the block. Only for heaps whose uses can be seen (hasUses), and for imported memory.
  virtual void onUse(const Block &, const Use &) {}
  // A copy to a block of a device reads all, or nearly all, of a host block.
  virtual void onCopyToDevice(const Block & /*source*/, const Block & /*destination*/, const CopyToDevice &) {}
  // The collector looked at the block's pages, and found a change since the last look.
  virtual void onPages(const Block &, const TouchedPages &) {}
  // A reset has ended all blocks of the device.
  virtual void onDeviceReset(uint32_t /*process*/, uint8_t /*device*/) {}
  // The pool's block that was just announced is a part of `whole`, which another allocator has allocated.
  virtual void onPart(const Block & /*part*/, const Block & /*whole*/, uint64_t /*time_ns*/) {}
};

// Returns a number for each of these sites, in their order. Returns fewer numbers if a site has none.
using NumbersOfSites = std::function<std::vector<SiteNumber>(const std::vector<SiteId> &)>;
using SiteOfNumber = std::function<SiteId(SiteNumber)>;

// Counts events, and events that did not fit. In a run without losses, the counts of the latter are 0.
struct LiveSetCounts {
  uint64_t allocs = 0, frees = 0;   // events
  uint64_t failed_allocs = 0;       // an allocator refused
  uint64_t unmatched_frees = 0;     // no such block: allocated before msleaks was loaded, or inherited by a fork
  uint64_t frees_before_start = 0;  // no such block, and it may have been allocated during a pause of the recording
  uint64_t freed_unseen = 0;        // allocations at the address of a block that may have been freed during a pause
  uint64_t unmatched_retargets = 0; // Retarget, Retain and Owned without a block
  uint64_t implicit_frees = 0;      // allocations at the address of a live block
  uint64_t late_frees = 0;          // implicit frees whose Free arrived a moment later, from another thread
  uint64_t early_frees = 0;         // frees that arrived a moment before their allocation by another thread
  uint64_t unknown_heaps = 0;       // ignored events of a heap that this version does not know
  LiveSetCounts &operator+=(const LiveSetCounts &);
};

// The live blocks of one process at a time. So code for one process cannot walk through the blocks of all processes.
class BlocksByProcess {
public:
  virtual ~BlocksByProcess() = default;
  // Calls f for each live block of this process.
  virtual void forEachOf(uint32_t process, const std::function<void(const Block &)> &f) const = 0;
};

class BlockTable;
class SharedObjects;
struct ObjectKey;
struct DeviceRange;

class LiveSet final : public BlocksByProcess {
public:
  // The observers must outlive the set. They are called in this order.
  explicit LiveSet(std::vector<BlockObserver *> observers);
  ~LiveSet() override;
  LiveSet(const LiveSet &) = delete;
  LiveSet &operator=(const LiveSet &) = delete;

  // The kernel of `process` maps and unmaps whole pages of this size. If the size is not set, or impossible, it is 4
  // KiB.
  void setPageBytes(uint32_t process, uint64_t page_bytes);

  // The texts of owners, ranges and marks. Call it before the first event.
  void useLabels(const Labels &labels) { contexts_.useLabels(labels); }
  // Whether a path calls a module of PyTorch. Call it before the first event.
  void useModules(std::function<bool(SiteId)> calls_module) { calls_module_ = std::move(calls_module); }

  // `site` is the event's site in the session's catalog. Events must come in the order of TraceReader.
  void apply(const StreamEvent &event, SiteId site);

  // Hints that `event` will be applied soon. prefetch() prefetches memory that apply() will need, and prefetchBlock()
  // the block itself, if prefetch() was called some time before.
  void prefetch(const StreamEvent &event) const;
  void prefetchBlock(const StreamEvent &event) const;

  // All live blocks of `process` die with this cause, for which isEnd() must be true.
  void endProcess(uint32_t process, FreeCause cause, uint64_t time_ns);

  // Writes the state after all events until `time_ns` into a checkpoint. No event may be later than `time_ns`. Returns
  // false and writes nothing if a site has no number.
  bool save(uint64_t time_ns, const NumbersOfSites &, ByteWriter &to) const;
  // Replaces the present state by the state that save() has written. Calls no observer. If the bytes make no sense, or
  // a later version wrote them, returns false, and no block is alive.
  bool load(uint64_t time_ns, std::span<const uint8_t> saved, const SiteOfNumber &);

  // The live block at this address, or null. If several devices have one, the first. Valid until the next event.
  const Block *find(uint32_t process, AddressSpace space, uint64_t address) const;
  // The live block that contains the byte at this address, or null. The first question about an address space takes
  // time for all its blocks; after that, an index is kept. A handle contains no bytes. Valid until the next event.
  const Block *holding(uint32_t process, AddressSpace space, uint64_t address, uint8_t device = 0);
  // For a pool's live block: the block that contains it, while that block is alive. None if it is not known.
  BlockId parentOf(BlockId part) const { return valueAt(parents_, part.index); }
  // The block of which a pool's block is now a part, or null. Same cost as holding().
  const Block *wholeOf(const Block &part);
  uint64_t liveBlocks() const { return live_blocks_; }
  std::vector<uint32_t> processes() const; // that have not ended, ascending
  // Calls f for each live block of all processes.
  void forEach(const std::function<void(const Block &)> &f) const;
  void forEachOf(uint32_t process, const std::function<void(const Block &)> &f) const override;
  const LiveSetCounts &counts() const { return counts_; }
  const Cohorts &cohorts() const { return cohorts_; }
  const Timeline &timeline() const { return timeline_; }
  const Pauses &pauses() const { return pauses_; }
  const UseSources &useSources() const { return use_sources_; }

private:
  struct Process;
  struct Parked;
  struct Mapping;
  class Saver;
  class Loader;

  void clear();
  Process &processOf(uint32_t number);
  std::unique_ptr<Process> makeProcess(uint32_t number) const;
  const BlockTable *tableOfSoon(const StreamEvent &) const;
  void onAlloc(const StreamEvent &, const abi::AllocEvent &, SiteId);
  void onFree(const StreamEvent &, const abi::FreeEvent &);
  void onRetarget(const StreamEvent &, const abi::RetargetEvent &, SiteId);
  static Block *importedAgain(Process &, const abi::AllocEvent &);
  // Whether a graph of the driver has reserved the block's address. Such a block has memory only after launches.
  static bool isInGraph(const Block &block) { return block.file && block.heap == abi::Heap::Device; }
  void freeInGraph(Process &, Block &, const abi::FreeEvent &);
  void changeInGraph(Process &, Block &, bool reserve, uint64_t time_ns);
  void bind(Process &, const abi::MappedEvent &);
  const Block *useBound(Process &, const DeviceRange &, uint64_t begin, uint64_t end, const Use &);
  void endDevice(Process &, uint8_t device, uint64_t time_ns);
  void growImported(Block &, uint64_t bytes, uint64_t time_ns);
  void onOwned(const StreamEvent &, const abi::OwnedEvent &);
  void onCounter(const StreamEvent &, const abi::CounterEvent &);
  SiteId forwardOf(Process &, uint64_t node) const;
  void change(Block &, SiteId, const Context &, uint64_t time_ns);
  void onRetain(const StreamEvent &, const abi::RetainEvent &);
  void onProtect(const StreamEvent &, const abi::ProtectEvent &);
  void onMapped(const StreamEvent &, const abi::MappedEvent &);
  void hide(Process &, uint32_t stream, const abi::MappedEvent &);
  void showAgain(Process &, uint32_t stream, uint64_t time_ns);
  void dropOwner(Process &, Block *, uint64_t time_ns);
  void moveToRange(Process &, Block *, uint64_t time_ns);
  const Block *useRanges(Process &, uint64_t address, const Use &);
  void addPiece(Process &, Block piece, uint64_t time_ns);
  static Mapping takeParked(Process &, const StreamEvent &);
  void freeWhole(Process &, const StreamEvent &, const abi::FreeEvent &);
  void freeNow(Process &, const StreamEvent &, const abi::FreeEvent &);
  static Block *findWrapped(Process &, uint64_t address);
  void applyEarly(Process &, const StreamEvent &alloc);
  void unmap(Process &, const StreamEvent &, const abi::FreeEvent &);
  std::vector<Mapping> cutOut(Process &, uint64_t begin, uint64_t bytes, FreeCause, uint64_t time_ns);
  void insertMapping(Process &, const Mapping &, AllocCause, uint64_t time_ns);
  void onShared(const StreamEvent &, const abi::SharedEvent &);
  void onAccess(const StreamEvent &, const abi::AccessEvent &, SiteId);
  void onCopy(const StreamEvent &, const abi::CopyEvent &, SiteId);
  void onSet(const StreamEvent &, const abi::SetEvent &, SiteId);
  const Block *use(uint64_t address, uint8_t device, const Use &);
  const Block *copiedBlock(const abi::CopyEvent &, uint32_t process) const;
  void onPages(const StreamEvent &, const abi::PagesEvent &);
  static void takeShown(Process &, const StreamEvent &alloc, Mapping &);
  void share(Process &, uint64_t address, uint64_t time_ns);
  void splitObject(const ObjectKey &, uint64_t offset, uint64_t time_ns);
  void splitMapping(Process &, uint64_t address, uint64_t time_ns);
  void leave(const Process &, const Mapping &, uint64_t time_ns);
  void setReserve(Block &, bool reserve, uint64_t time_ns);
  void back(Process &, const Block &device, uint64_t time_ns);
  void unback(Process &, const Block &device, uint64_t time_ns);
  bool countBehind(Process &, uint64_t device_bytes, uint64_t time_ns);
  void endReleases(Process &, const StreamEvent &, uint64_t time_ns);
  void endMappings(Process &, FreeCause, uint64_t time_ns);
  void park(Process &, const StreamEvent &, const Block &);
  void restore(Process &, const StreamEvent &);
  void insert(Process &, const Block &, AllocCause, uint64_t time_ns);
  void erase(Process &, Block *);
  static void indexAgain(Process &, const Block &gone, const Block &);
  static const Block *wholeOf(Process &, const Block &part);
  const Block *noteParent(Process &, const Block &part);
  void noteUnmatched(Process &, const StreamEvent &, const abi::FreeEvent &);
  void noteReplaced(Process &, const Block &old, uint32_t by_stream, uint64_t time_ns);
  const std::vector<BlockObserver *> &observersOf(const Block &block) const {
    return observers_of_[static_cast<size_t>(block.heap)];
  }
  // Gives the block its number, or takes it back.
  void announceAlloc(Block &, AllocCause, uint64_t time_ns);
  void announcePart(Process &, const Block &part, uint64_t time_ns);
  void announceFree(const Block &, FreeCause, uint64_t time_ns);
  BlockId takeId();
  CohortId cohortOf(const Block &, const Context &);
  Context contextOf(const Block &) const;

  std::vector<BlockObserver *> observers_;
  std::array<std::vector<BlockObserver *>, static_cast<size_t>(abi::Heap::Count)> observers_of_; // by heap
  std::unordered_map<uint32_t, std::unique_ptr<Process>> processes_;
  std::unordered_map<uint32_t, uint64_t> page_bytes_; // if it is not kUsualPageBytes
  Process *last_process_ = nullptr;                   // the process of the event before
  uint32_t last_number_ = 0;
  uint64_t live_blocks_ = 0;
  Cohorts cohorts_;
  Contexts contexts_;
  std::function<bool(SiteId)> calls_module_;
  bool has_forwards_ = false; // a node was evaluated
  Timeline timeline_;
  uint32_t last_id_ = 0;
  std::vector<BlockId> free_ids_;
  std::vector<BlockId> parents_; // by the number of a pool's block
  std::unique_ptr<SharedObjects> shared_;
  Pauses pauses_;
  UseSources use_sources_;
  LiveSetCounts counts_;
};

} // namespace msleaks::analysis::inline live
