// Freed but resident: memory of freed blocks that glibc's malloc does not give back to the kernel (docs/analyses.md).
#include "analysis/analyzers/heap_gaps.h"
#include "analysis/analyzers/majority_cohort.h"
#include "analysis/analyzers/malloc_chunk.h"
#include "analysis/analyzers/registry.h"
#include "analysis/findings/advice.h"
#include "analysis/findings/keeper.h"
#include "analysis/findings/torch_owner.h"
#include "msleaks/abi/sampled_block.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <unordered_map>

namespace msleaks::analysis::inline analyzers {
namespace {

// Less memory, or a smaller part of the process' resident memory, does not matter.
constexpr uint64_t kLeastBytes = 8 << 20, kLeastOneIn = 10;
// The memory must stay for a quarter of the process' life. The last eighth does not count: a program may free
// everything before its end, and then malloc gives it back. If more memory is freed meanwhile, this may be such a
// program, too.
constexpr uint64_t kLifeParts = 8, kWindowBegin = 3, kWindowMiddle = 2, kWindowEnd = 1; // parts before the end
constexpr uint64_t kLeastLifeNs = 1'000'000'000;
// The analyzer notes one freed block for about this many freed bytes. It notes the block in its frame, a range of
// addresses.
constexpr uint64_t kBytesOfNote = 16 << 10;
constexpr unsigned kFrameShift = 16;
// malloc makes mappings for larger blocks.
constexpr uint64_t kLargestOfHeap = 32 << 20;
constexpr size_t kMostCohorts = 64;

struct HeapLook {
  uint64_t time_ns = 0;
  HeapGaps::Sums sums;
  uint64_t arenas = 0; // parts of other arenas than the main one
  std::vector<CohortShare> freed_by;

  uint64_t bytes() const { return sums.main + sums.others; }
};

// The bytes of malloc's heap that a block takes.
uint64_t heapBytesOf(const Block &block) { return isProbablyMapping(block) ? 0 : chunkBytesOf(block.size); }

struct ProcessHeap {
  uint64_t live_bytes = 0;                             // heapBytesOf() the live blocks
  std::unordered_map<uint64_t, MajorityCohort> frames; // by the number of the frame, of the freed bytes
  std::vector<HeapPartLook> parts;                     // of a look whose other parts follow
  std::vector<HeapLook> looks;
  uint64_t end_ns = 0;
};

// Memory that stayed resident until the process' end.
struct KeptMemory {
  HeapLook look; // the one with the fewest bytes
  uint64_t since_ns = 0, until_ns = 0, resident_bytes = 0;
};

class FreedResidentAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "freed_resident"; }
  bool wants(abi::Heap heap) const override { return heap == abi::Heap::Host; }
  void useLiveBlocks(const BlocksByProcess &blocks) override { blocks_ = &blocks; }
  uint32_t eventKinds() const override {
    return abi::enabledBit(abi::EventKind::Pages) | abi::enabledBit(abi::EventKind::Epoch);
  }
  void onEvent(const StreamEvent &event, SiteId) override {
    if (event.event.header().kind == abi::EventKind::Epoch)
      has_pauses_ = true; // blocks may be unknown
    else if (const auto pages = event.event.as<abi::PagesEvent>(); (pages.at_exit & abi::kPagesOfHeap) != 0)
      onPart(event.process, pages);
  }
  void onAlloc(const Block &block, AllocCause, uint64_t) override { heapOf(block).live_bytes += heapBytesOf(block); }
  void onFree(const Block &block, FreeCause cause, uint64_t) override {
    ProcessHeap &heap = heapOf(block);
    heap.live_bytes -= std::min(heap.live_bytes, heapBytesOf(block));
    if (block.size < until_note_) {
      until_note_ -= block.size;
    } else {
      until_note_ = kBytesOfNote;
      if (!isEnd(cause))
        note(block, heap);
    }
  }
  void onProcessEnd(uint32_t process, const ProcessFate &fate) override {
    if (const auto heap = heaps_.find(process); heap != heaps_.end()) {
      heap->second.end_ns = fate.time_ns;
      heap->second.frames.clear();
    }
  }
  void conclude(Conclusion &) const override;

private:
  ProcessHeap &heapOf(const Block &block) {
    if (!last_heap_ || last_process_ != block.process) {
      last_heap_ = &heaps_[block.process]; // elements of a map do not move
      last_process_ = block.process;
    }
    return *last_heap_;
  }
  static void note(const Block &, ProcessHeap &);
  void onPart(uint32_t process, const abi::PagesEvent &);
  HeapLook lookAt(uint32_t process, ProcessHeap &, unsigned page_shift) const;

  const BlocksByProcess *blocks_ = nullptr;
  std::map<uint32_t, ProcessHeap> heaps_; // by process
  ProcessHeap *last_heap_ = nullptr;
  uint32_t last_process_ = 0;
  uint64_t until_note_ = kBytesOfNote;
  bool has_pauses_ = false;
};

void FreedResidentAnalyzer::note(const Block &block, ProcessHeap &heap) {
  if (block.size > kLargestOfHeap || isProbablyMapping(block))
    return;
  const uint64_t last = (block.address + std::max<uint64_t>(block.size, 1) - 1) >> kFrameShift;
  for (uint64_t frame = block.address >> kFrameShift; frame <= last; ++frame)
    heap.frames[frame].add(block.cohort, std::clamp(block.size, kBytesOfNote, uint64_t{1} << kFrameShift));
}

void FreedResidentAnalyzer::onPart(uint32_t process, const abi::PagesEvent &part) {
  const auto page_shift = static_cast<unsigned>(part.at_exit >> abi::kPageShiftBit);
  ProcessHeap &heap = heaps_[process];
  constexpr unsigned kLeastShift = 12, kMostShift = 16;
  if (page_shift < kLeastShift || page_shift > kMostShift || part.address + part.size < part.address)
    return; // damaged
  heap.parts.push_back(
      {part.address, part.address + part.size, part.touched, (part.at_exit & abi::kPagesOfArena) == 0});
  if (part.allocated_ns != 0)
    return;
  heap.looks.push_back(lookAt(process, heap, page_shift));
  heap.looks.back().time_ns = part.header.time;
  heap.parts.clear();
}

HeapLook FreedResidentAnalyzer::lookAt(uint32_t process, ProcessHeap &heap, unsigned page_shift) const {
  HeapLook look;
  uint64_t resident = 0;
  for (const HeapPartLook &part : heap.parts)
    resident += part.resident_bytes;
  if (resident < heap.live_bytes + kLeastBytes)
    return look; // so the live blocks need not be looked at
  look.arenas = static_cast<uint64_t>(
      std::count_if(heap.parts.begin(), heap.parts.end(), [](const HeapPartLook &part) { return !part.is_main; }));
  HeapGaps gaps(std::move(heap.parts), page_shift);
  blocks_->forEachOf(process, [&](const Block &block) {
    if (block.heap == abi::Heap::Host)
      gaps.add(block);
  });
  look.sums = gaps.sums();
  if (look.bytes() < kLeastBytes)
    return look;
  std::map<CohortId, uint64_t> bytes;
  gaps.forEachFrame(kFrameShift, [&](uint64_t frame, uint64_t free) {
    if (const auto freed = heap.frames.find(frame); freed != heap.frames.end())
      bytes[freed->second.cohort] += free;
  });
  for (const auto &[cohort, free] : bytes)
    look.freed_by.push_back({cohort, free, 1});
  std::stable_sort(look.freed_by.begin(), look.freed_by.end(),
                   [](const auto &a, const auto &b) { return a.bytes > b.bytes; });
  look.freed_by.resize(std::min(look.freed_by.size(), kMostCohorts));
  return look;
}

// The last look until this time, or null.
const HeapLook *lookUntil(uint64_t time_ns, const std::vector<HeapLook> &looks) {
  const HeapLook *last = nullptr;
  for (const HeapLook &look : looks)
    if (look.time_ns <= time_ns)
      last = &look;
  return last;
}

std::optional<KeptMemory> keptBy(uint32_t process, const ProcessHeap &heap, const Conclusion &conclusion) {
  constexpr uint64_t kAtMostAdded = 4; // a quarter
  const auto begin_ns = conclusion.resident.beginOf(process);
  if (!begin_ns || heap.end_ns < *begin_ns + kLeastLifeNs)
    return std::nullopt;
  const auto lookAt = [&](uint64_t parts) {
    return lookUntil(heap.end_ns - (heap.end_ns - *begin_ns) / kLifeParts * parts, heap.looks);
  };
  const HeapLook *first = lookAt(kWindowBegin), *middle = lookAt(kWindowMiddle), *last = lookAt(kWindowEnd);
  if (!first || first->bytes() < middle->bytes() - middle->bytes() / kAtMostAdded)
    return std::nullopt;
  const HeapLook *least =
      std::min_element(first, last + 1, [](const HeapLook &a, const HeapLook &b) { return a.bytes() < b.bytes(); });
  const auto sample = conclusion.resident.near(process, least->time_ns);
  if (!sample || least->bytes() < std::max(kLeastBytes, sample->resident_bytes / kLeastOneIn))
    return std::nullopt;
  while (first != heap.looks.data() && (first - 1)->bytes() >= least->bytes())
    --first;
  if (first == last)
    return std::nullopt; // one look may see a short moment
  return KeptMemory{*least, first->time_ns, last->time_ns, sample->resident_bytes};
}

std::string adviceOf(const HeapGaps::Sums &sums, const Finding &finding) {
  const bool is_python = finding.site.origin == SiteOrigin::Python;
  std::string text =
      fmt::format("Call `{}` after the blocks of {} were freed, or use one large {} instead of many small ones.",
                  is_python ? "ctypes.CDLL(None).malloc_trim(0)" : "malloc_trim(0)", functionIn(finding.site),
                  torchOwnerOf(finding.owner) ? "tensor" : "block");
  if (sums.others > sums.main)
    text += " Each thread has an arena of its own: MALLOC_ARENA_MAX=2 limits their number.";
  else if (sums.main_end > sums.main / 2)
    text += " The free memory is at the end of the heap: MALLOC_TRIM_THRESHOLD_=131072 gives it back at once.";
  return text;
}

Draft<Finding> findingOf(const KeptMemory &kept, const Keeper &keeper, const SharesOfPlace &at,
                         Conclusion &conclusion) {
  auto draft = draftOf(finding_kinds::kResident, keeper, at.place, at.cohorts, conclusion);
  Finding &finding = draft.line;
  const HeapGaps::Sums &sums = kept.look.sums;
  finding.bytes = kept.look.bytes();
  finding.count = (sums.main != 0 ? 1 : 0) + (sums.others != 0 ? kept.look.arenas : 0);
  finding.byte_seconds = byteSecondsOf(byteNsOf(finding.bytes, kept.until_ns - kept.since_ns));
  finding.evidence = {{"idle_ns", kept.until_ns - kept.since_ns},
                      {"resident_bytes", kept.resident_bytes},
                      {"heap_resident_bytes", sums.resident},
                      {"unused_resident_bytes", sums.unused},
                      {"main_arena_bytes", sums.main},
                      {"main_arena_end_bytes", sums.main_end},
                      {"other_arenas_bytes", sums.others}};
  finding.advice = adviceOf(sums, finding);
  return draft;
}

void FreedResidentAnalyzer::conclude(Conclusion &conclusion) const {
  if (conclusion.question.policy != Policy::Effect || has_pauses_)
    return;
  for (const auto &[process, heap] : heaps_)
    if (const auto kept = heap.looks.empty() ? std::nullopt : keptBy(process, heap, conclusion))
      if (const auto at = keeperOfMost(kept->look.freed_by, conclusion))
        conclusion.add(findingOf(*kept, at->first, at->second, conclusion), {});
}

} // namespace

MSL_REGISTER_ANALYZER(freed_resident, FreedResidentAnalyzer)

} // namespace msleaks::analysis::inline analyzers
