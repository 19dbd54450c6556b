// The blocks that are alive: events go in, births and deaths of blocks come out, in the order of the events.
//
// Memory grows with what is alive, never with the number of events. Each process has tables of its own, one for each
// address space below, so that a process' end costs what it had alive.
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

// The number of a live block; 0 = none. Numbers of dead blocks are given again, so that they stay dense: analyzers keep
// vectors by them, as long as the most blocks that were alive at once.
struct BlockId {
  uint32_t index = 0;
  constexpr auto operator<=>(const BlockId &) const = default;
};

struct Block {
  uint64_t address = 0;
  uint64_t size = 0; // as the caller asked for it
  uint64_t time_ns = 0;
  SiteId site;
  uint32_t stream = 0; // the thread that allocated it
  uint32_t process = 0;
  CohortId cohort;
  BlockId id;
  uint16_t refs : 12 = 1;  // owners of a counted block
  uint16_t zeroed : 1 = 0; // handed out filled with zeros; known until a checkpoint
  uint16_t reserve : 1 =
      0;                 // no memory of its own: address space only, a file's pages, another heap's block (backings.h)
  uint16_t file : 1 = 0; // a file's pages, whatever their protection
  uint16_t handle : 1 = 0; // its address is a number of the driver's (a cl_mem): no byte of it lies there
  abi::Heap heap = abi::Heap::Host;
  uint8_t device = 0;

  uint64_t bytes() const { return reserve ? 0 : size; } // what it adds to its heap
};
static_assert(sizeof(Block) == 48);

enum class AllocCause : uint8_t {
  Allocated,
  Reallocated, // the new block of a realloc
  Restored,    // a realloc failed: the old block is alive again, as it was
  Remainder,   // the rest of a block after a partial munmap, a mapping over a part, or mprotect
  WasThere,    // alive when the window begins that a report is about; no birth
};

enum class FreeCause : uint8_t {
  Freed,
  Reallocated,   // first half of a realloc: comes back as Restored when that fails
  Replaced,      // its address was handed out again: its free was not seen, or a mapping was put over it
  Remainder,     // a part of it was unmapped or changed; what it is in now follows as new blocks
  ProcessExited, // the process ended, or ended somehow: nobody can free it any more
  ProcessKilled, // by a signal
  ProcessExec,   // the image was replaced by another program
  StillAlive,    // the trace ends before the process does
};

// Was alive when its process image came to its end, whatever that was.
constexpr bool isEnd(FreeCause cause) { return cause >= FreeCause::ProcessExited; }
// Is told of births and deaths of blocks. A free of Remainder comes before the births that go with it, so that sums
// never exceed the truth in between. `time_ns` is when it happened; block.time_ns is when the block was allocated.
class BlockObserver {
public:
  virtual ~BlockObserver() = default;
  // Heaps whose blocks' births and deaths it wants to be told of.
  virtual bool wants(abi::Heap) const { return true; }
  virtual void onAlloc(const Block &, AllocCause, uint64_t time_ns) = 0;
  virtual void onFree(const Block &, FreeCause, uint64_t time_ns) = 0;
  // The live block belongs to block.site, and did so from its birth; until now it was taken for what `before` says.
  virtual void onRetarget(const Block &, const Block &before, uint64_t time_ns) = 0;
  // A launch, copy or fill names the block. Only of heaps whose uses can be seen (hasUses).
  virtual void onUse(const Block &, const Use &) {}
  // All of a host block, or nearly, is copied to a block of a device.
  virtual void onCopyToDevice(const Block & /*source*/, const Block & /*destination*/, const CopyToDevice &) {}
  // The collector looked at the block's pages, and not all was as the last time.
  virtual void onPages(const Block &, const TouchedPages &) {}
  // The pool's block that has just come is a part of `whole`, which another allocator handed out.
  virtual void onPart(const Block & /*part*/, const Block & /*whole*/, uint64_t /*time_ns*/) {}
};

// A number for each of these sites, in this order; fewer when one has none.
using NumbersOfSites = std::function<std::vector<SiteNumber>(const std::vector<SiteId> &)>;
using SiteOfNumber = std::function<SiteId(SiteNumber)>;

// Counts of events, and of events that did not fit. A run that lost nothing and saw everything has zeros in the latter.
struct LiveSetCounts {
  uint64_t allocs = 0, frees = 0;   // events
  uint64_t failed_allocs = 0;       // an allocator said no
  uint64_t unmatched_frees = 0;     // no such block: allocated before msleaks was there, or inherited by fork
  uint64_t frees_before_start = 0;  // no such block, and it may have been allocated while recording was stopped
  uint64_t freed_unseen = 0;        // allocations at the address of a block whose free may lie in a pause
  uint64_t unmatched_retargets = 0; // the same for Retarget and Retain
  uint64_t implicit_frees = 0;      // allocations at the address of a live block
  uint64_t late_frees = 0;          // blocks among these whose free arrived a moment later, from another thread
  uint64_t early_frees = 0;         // arrived a moment before their allocation by another thread
  uint64_t unknown_heaps = 0;       // events of a kind of memory that this version does not know: left out
  LiveSetCounts &operator+=(const LiveSetCounts &);
};

// The live blocks of each process by itself. So code that is about one process cannot walk over the blocks of all.
class BlocksByProcess {
public:
  virtual ~BlocksByProcess() = default;
  // Calls f for each live block of this process.
  virtual void forEachOf(uint32_t process, const std::function<void(const Block &)> &f) const = 0;
};

class SharedObjects;
struct ObjectKey;

class LiveSet final : public BlocksByProcess {
public:
  // The observers outlive the set and are told in this order.
  explicit LiveSet(std::vector<BlockObserver *> observers);
  ~LiveSet() override;
  LiveSet(const LiveSet &) = delete;
  LiveSet &operator=(const LiveSet &) = delete;

  // The page size of the kernel of `process`, which maps and unmaps whole pages, whatever was asked for. 4 KiB if it is
  // not told, or if the told size is impossible.
  void setPageBytes(uint32_t process, uint64_t page_bytes);

  // Before the first event: the texts of owners, ranges and marks.
  void useLabels(const Labels &labels) { contexts_.useLabels(labels); }

  // `site` is the event's site in the session's catalog. Events come in the order of TraceReader.
  void apply(const StreamEvent &event, SiteId site);

  // A hint that `event` will be applied soon: fetches the memory that this will need.
  void prefetch(const StreamEvent &event) const;

  // Everything that `process` has alive dies of `cause` (one of isEnd).
  void endProcess(uint32_t process, FreeCause cause, uint64_t time_ns);

  // Writes the state after all events until `time_ns`, the last one's time or later, into a checkpoint. False, and
  // nothing written, when a site has no number.
  bool save(uint64_t time_ns, const NumbersOfSites &, ByteWriter &to) const;
  // Goes on where save() was called, whatever was here before; no observer is told. False when that makes no sense, or
  // a later version wrote it: then nothing is alive.
  bool load(uint64_t time_ns, std::span<const uint8_t> saved, const SiteOfNumber &);

  // The live block at exactly this address, or null; of several devices' the first one's. Valid until the next event.
  const Block *find(uint32_t process, AddressSpace space, uint64_t address) const;
  // The live block that holds the byte at this address, or null. The first question about a space costs as much as it
  // has blocks; from then on it is kept up to date. A handle holds no bytes. Valid until the next event.
  const Block *holding(uint32_t process, AddressSpace space, uint64_t address, uint8_t device = 0);
  // Of a pool's live block: the one that it is a part of, as long as that one lives; none if nobody knows.
  BlockId parentOf(BlockId part) const { return valueAt(parents_, part.index); }
  // The block that a pool's block is a part of now, or null; as holding().
  const Block *wholeOf(const Block &part);
  uint64_t liveBlocks() const { return live_blocks_; }
  std::vector<uint32_t> processes() const; // that have something alive, ascending
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
  void onAlloc(const StreamEvent &, const abi::AllocEvent &, SiteId);
  void onFree(const StreamEvent &, const abi::FreeEvent &);
  void onRetarget(const StreamEvent &, const abi::RetargetEvent &, SiteId);
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
  // Gives the block its numbers, and takes them back.
  void announceAlloc(Block &, AllocCause, uint64_t time_ns);
  void announcePart(Process &, const Block &part, uint64_t time_ns);
  void announceFree(const Block &, FreeCause, uint64_t time_ns);
  BlockId takeId();
  CohortId cohortOf(const Block &, const Context &);
  Context contextOf(const Block &) const;

  std::vector<BlockObserver *> observers_;
  std::array<std::vector<BlockObserver *>, static_cast<size_t>(abi::Heap::Count)> observers_of_; // by heap
  std::unordered_map<uint32_t, std::unique_ptr<Process>> processes_;
  std::unordered_map<uint32_t, uint64_t> page_bytes_; // where it is not kUsualPageBytes
  Process *last_process_ = nullptr;                   // of the event before
  uint32_t last_number_ = 0;
  uint64_t live_blocks_ = 0;
  Cohorts cohorts_;
  Contexts contexts_;
  Timeline timeline_;
  uint32_t last_id_ = 0;
  std::vector<BlockId> free_ids_;
  std::vector<BlockId> parents_; // by number of a pool's block
  std::unique_ptr<SharedObjects> shared_;
  Pauses pauses_;
  UseSources use_sources_;
  LiveSetCounts counts_;
};

} // namespace msleaks::analysis::inline live
