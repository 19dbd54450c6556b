// The segments of a memory snapshot of PyTorch, and the blocks in them that are alive at the end.
#pragma once

#include "analysis/exporters/page_ranges.h"
#include "analysis/exporters/snapshot_values.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

namespace msleaks::analysis::inline exporters {

struct KeptBlock { // alive at the end of its process
  uint64_t address = 0, bytes = 0;
  uint32_t frames = 0, alloc = 0; // numbers in the pickle; 0 = none
  Word category = Word::unknown;
};

// A list of events, and the memory that the events are about.
struct Lane {
  std::string name;
  uint32_t name_number = 0, events_number = 0; // in the pickle
  std::map<uint64_t, uint64_t> segments;       // live blocks of a device's driver: bytes by address
  PageRanges pages;                            // pages of other memory
  std::vector<KeptBlock> kept;
  std::unordered_set<uint64_t> live; // addresses of live blocks that another block may have, too
};

class SnapshotSegments {
public:
  SnapshotSegments(SnapshotValues &values, size_t device) : values_(values), device_(device) {}

  // Appends the segments to the list on top of the stack.
  // Each block must lie in a segment. A block that overlaps another one, or lies in no segment, has a segment of its
  // own.
  void add(const Lane &lane) {
    std::map<uint64_t, uint64_t> segments = lane.segments;
    for (const auto &[begin, end] : lane.pages.ranges())
      segments[begin] = end - begin;
    std::vector<const KeptBlock *> sorted;
    for (const KeptBlock &block : lane.kept)
      sorted.push_back(&block);
    std::ranges::stable_sort(sorted, {}, &KeptBlock::address);
    auto next = sorted.begin();
    for (const auto &[address, bytes] : segments) {
      std::vector<const KeptBlock *> inside;
      uint64_t free_from = address;
      for (; next != sorted.end() && (*next)->address < address + bytes; ++next) {
        const KeptBlock *const block = *next;
        if (block->address < free_from || block->address + block->bytes > address + bytes) {
          addSegment(block->address, block->bytes, {&block, 1});
          continue;
        }
        inside.push_back(block);
        free_from = block->address + block->bytes;
      }
      addSegment(address, bytes, inside);
    }
    for (; next != sorted.end(); ++next)
      addSegment((*next)->address, (*next)->bytes, {&*next, 1});
  }

private:
  void addBlock(Word state, uint64_t address, uint64_t bytes, const KeptBlock *block) {
    values_.pickle.emptyDict();
    values_.pickle.mark();
    values_.item(Word::address, address);
    values_.item(Word::size, bytes);
    values_.item(Word::requested_size, block != nullptr ? bytes : 0);
    values_.item(Word::state, state);
    values_.itemOf(Word::frames, block != nullptr ? block->frames : 0);
    if (block != nullptr && block->alloc != 0) {
      values_.itemOf(Word::alloc, block->alloc);
      values_.item(Word::category, block->category);
      values_.pickle.setItem();
    }
    values_.pickle.setItems();
    values_.pickle.append();
  }

  // Adds a segment with these blocks, and free blocks between them.
  void addSegment(uint64_t address, uint64_t bytes, std::span<const KeptBlock *const> blocks) {
    uint64_t used = 0, at = address;
    for (const KeptBlock *block : blocks)
      used += block->bytes;
    values_.pickle.emptyDict();
    values_.pickle.mark();
    values_.item(Word::device, device_);
    values_.item(Word::address, address);
    values_.item(Word::total_size, bytes);
    for (const Word sum : {Word::allocated_size, Word::active_size, Word::requested_size})
      values_.item(sum, used);
    values_.item(Word::stream, 0);
    values_.item(Word::segment_type, Word::large);
    values_.itemOf(Word::frames, 0);
    values_.push(Word::blocks);
    values_.pickle.emptyList();
    for (const KeptBlock *block : blocks) {
      if (at < block->address)
        addBlock(Word::inactive, at, block->address - at, nullptr);
      addBlock(Word::active_allocated, block->address, block->bytes, block);
      at = block->address + block->bytes;
    }
    if (at < address + bytes)
      addBlock(Word::inactive, at, address + bytes - at, nullptr);
    values_.pickle.setItems();
    values_.pickle.append();
  }

  SnapshotValues &values_;
  size_t device_; // number of the lane
};

} // namespace msleaks::analysis::inline exporters
