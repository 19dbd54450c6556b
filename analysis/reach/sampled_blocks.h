// A sample of the host blocks that are too small for the page tables: how much of each block is needed
// (abi::ZeroRange).
//
// New memory of a heap holds zeros until the program writes it. So the program probably does not need a range that
// holds zeros at every look until the free. Memory that the heap returns a second time holds what was there before,
// which counts as needed. Blocks that the heap fills with zeros (calloc) are left out: the program may need these
// zeros.
#pragma once

#include "analysis/reach/process_memory.h"
#include "analysis/reach/told_blocks.h"
#include "msleaks/abi/events.h"
#include "msleaks/abi/sampled_block.h"
#include "msleaks/abi/session.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace msleaks::analysis::inline reach {

class SampledBlocks {
public:
  // Samples blocks of less than `end_bytes`, and at most of kMostBytes. `told` tells the process about them.
  SampledBlocks(uint64_t end_bytes, ToldBlocks told) : end_bytes_(std::min(end_bytes, kMostBytes + 1)), told_(told) {}

  bool hasBlocks() const { return candidate_count_ + sample_count_ > 0; }
  // If the event allocates a block that may be in the sample: its size, else 0.
  uint64_t bytesOf(const abi::Slot &slot) const {
    if (slot.header.kind != abi::EventKind::Alloc || slot.header.heap != abi::Heap::Host)
      return 0;
    const auto alloc = abi::AnyEvent{{slot, {}}}.as<abi::AllocEvent>();
    return mayTake(alloc) ? alloc.size : 0;
  }
  // Takes an event, whose time is in ns. The events of each thread must be in order.
  void onEvent(const abi::Slot &slot) {
    const abi::EventHeader &header = slot.header;
    if (header.heap != abi::Heap::Host)
      return;
    if (header.kind == abi::EventKind::Alloc)
      onAlloc(abi::AnyEvent{{slot, {}}}.as<abi::AllocEvent>());
    else if (header.kind == abi::EventKind::Free && hasBlocks())
      remove(abi::AnyEvent{{slot, {}}}.as<abi::FreeEvent>().address);
  }
  // Takes the candidates that are still alive into the sample, and reads the blocks that are due. Adds a Pages event to
  // `found` for each block of which more is needed than before; at the exit, for each block. Its time is not set.
  void look(const ProcessMemory &, uint64_t now_ns, bool at_exit, std::vector<abi::PagesEvent> &found);

private:
  static constexpr uint64_t kMostBytes = 1 << 20; // reading larger blocks would take too long
  static constexpr uint32_t kCandidates = 512;
  // On average, the blocks of so many bytes have one candidate. So a place with many bytes has many.
  static constexpr uint64_t kBytesOfCandidate = 32 << 10;
  static constexpr uint16_t kLeftOut = abi::kZeroed | abi::kReserve | abi::kFile;
  struct Sample {
    uint64_t address = 0, size = 0, time_ns = 0; // 0: none
    uint64_t needed_bytes = 0;
    uint64_t next_look_ns = 0;
  };

  bool mayTake(const abi::AllocEvent &alloc) const {
    return alloc.size >= abi::kLeastSampledBytes && alloc.size < end_bytes_ && (alloc.header.flags & kLeftOut) == 0 &&
           alloc.address != 0 && isInAddressSpace(alloc.address, alloc.size);
  }
  void onAlloc(const abi::AllocEvent &alloc) {
    if (!mayTake(alloc))
      return;
    left_bytes_ -= static_cast<int64_t>(alloc.size);
    if (left_bytes_ < 0)
      addCandidate(alloc);
  }
  Sample &candidateAt(uint64_t address) { return candidates_[abi::largeBitOf(address) % kCandidates]; }
  Sample &sampleAt(uint64_t address) { return samples_[abi::sampleIndexOf(address)]; }
  void addCandidate(const abi::AllocEvent &);
  void remove(uint64_t address);
  void takeCandidates();
  bool read(const ProcessMemory &, Sample &);

  uint64_t end_bytes_;
  ToldBlocks told_;
  int64_t left_bytes_ = kBytesOfCandidate; // until the next candidate
  std::array<Sample, kCandidates> candidates_{};
  std::array<Sample, abi::kSampledBlocks> samples_{};
  uint32_t candidate_count_ = 0, sample_count_ = 0;
  uint64_t seen_ = 0; // number of candidates that were alive at a look
  std::vector<uint64_t> words_;
};

} // namespace msleaks::analysis::inline reach
