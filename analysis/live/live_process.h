// The state of one process in LiveSet.
#pragma once

#include "analysis/live/address_index.h"
#include "analysis/live/backings.h"
#include "analysis/live/block_table.h"
#include "analysis/live/device_ranges.h"
#include "analysis/live/live_set.h"
#include "analysis/live/multicasts.h"
#include "analysis/live/recent.h"
#include "analysis/live/shared_objects.h"
#include "analysis/live/skew_window.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace msleaks::analysis::inline live {

inline constexpr uint64_t kUsualPageBytes = 4096;
// No kernel maps the last page: its addresses are values of errors, and its end would overflow.
inline constexpr uint64_t kLastMapping = UINT64_MAX - 2 * kUsualPageBytes + 1;
inline constexpr uint16_t kMostOwners = 0x0fff; // largest value of Block::refs

inline void addOwner(Block &block) {
  if (block.refs < kMostOwners)
    block.refs = (block.refs + 1) & kMostOwners;
}

// begin + bytes, without overflow.
inline uint64_t endOf(uint64_t begin, uint64_t bytes) { return begin + std::min(bytes, UINT64_MAX - begin); }

struct LiveSet::Mapping {
  Block block;
  ObjectKey object{};  // the shared object that it shows; none: its own memory, or a file's
  uint64_t offset = 0; // offset in the object

  uint64_t end() const { return endOf(block.address, block.size); }
  // The part of the mapping from `address` on.
  Mapping from(uint64_t address) const {
    Mapping tail = *this;
    tail.block.address = address;
    tail.block.size = end() > address ? end() - address : 0;
    tail.offset += address - block.address;
    return tail;
  }
};

// The last free of a thread that may be refused: a realloc, or a free that can fail. If it is refused, the blocks come
// back. A mapping may have several pieces. One call may free a list of blocks.
struct LiveSet::Parked {
  uint64_t address; // the address in the Free event
  bool was_owner;   // only an owner of a counted block, which is still alive
  Mapping first;
  std::vector<Mapping> more;
};

struct LiveSet::Process {
  uint32_t number = 0;
  uint64_t page_bytes = kUsualPageBytes;
  BlockTable tables[static_cast<size_t>(AddressSpace::Count)]; // the table of Mapping is not used
  std::map<uint8_t, BlockTable> devices; // of all devices but the first, which has its table above
  std::map<std::pair<AddressSpace, uint8_t>, AddressIndex> indexes; // of tables asked for interior pointers
  std::map<uint64_t, Mapping> mappings;                             // by address, because munmap names ranges
  Recent<uint32_t, abi::SharedEvent> shown;                         // by stream: the object of its next mapping
  Recent<uint64_t, Parked> parked;                                  // by stream and address space
  Backings backings;
  DeviceRanges ranges; // device addresses that show physical blocks
  Multicasts multicasts;
  Recent<uint32_t, std::vector<HiddenRange>> hidden; // by stream: the ranges that its last unmapping removed
  uint64_t freed_address = 0;                        // address of the last host's block that was freed
  uint32_t freed_by = 0;                             // the stream that freed it
  SkewWindow replaced;                // blocks whose address was allocated again: their free may still arrive
  std::unordered_set<uint64_t> ended; // addresses of blocks that ended with their device, until the program frees them
  SkewWindow early; // frees and retains without a block: its allocation by another thread may still arrive

  // An address of an accelerator is valid on one device only.
  BlockTable &table(AddressSpace space, uint8_t device) {
    const bool is_other = space == AddressSpace::Accelerator && device != 0;
    return is_other ? devices[device] : tables[static_cast<size_t>(space)];
  }
  BlockTable &tableOf(const Block &block) { return table(spaceOf(block.heap), block.device); }
  // The free of an accelerator's block may name another device: the one that is current at that moment.
  [[gnu::always_inline]] Block *find(AddressSpace space, uint64_t address, uint8_t device = 0) {
    if (space == AddressSpace::Mapping) {
      const auto found = mappings.find(address);
      return found == mappings.end() ? nullptr : &found->second.block;
    }
    Block *block = tables[static_cast<size_t>(space)].find(address);
    return space == AddressSpace::Accelerator && !devices.empty() ? findOnDevice(block, address, device) : block;
  }
  [[gnu::noinline]] Block *findOnDevice(Block *on_first, uint64_t address, uint8_t device) {
    if (on_first && device == 0)
      return on_first;
    if (const auto named = devices.find(device); named != devices.end())
      if (Block *block = named->second.find(address))
        return block;
    for (auto other = devices.begin(); other != devices.end() && !on_first; ++other)
      on_first = other->second.find(address);
    return on_first;
  }
  // The physical block that the range shows, or null.
  Block *blockOf(const DeviceRange &range) { return table(AddressSpace::Accelerator, range.device).find(range.block); }
  // The block's handle was freed, so only device addresses still show the block.
  bool isShownOnly(const Block &block) const {
    return !ranges.isEmpty() && spaceOf(block.heap) == AddressSpace::Accelerator && ranges.count(block) == block.refs;
  }
  // Null if nobody has looked up interior pointers, or if the block is a handle, which contains no bytes.
  AddressIndex *indexOf(const Block &block) {
    if (indexes.empty() || block.handle)
      return nullptr;
    const AddressSpace space = spaceOf(block.heap);
    const auto found = indexes.find({space, space == AddressSpace::Accelerator ? block.device : uint8_t{0}});
    return found == indexes.end() ? nullptr : &found->second;
  }
  // The block that contains the byte, or null.
  Block *holding(AddressSpace space, uint64_t address, uint8_t device) {
    if (space == AddressSpace::Mapping)
      return mappingHolding(address);
    if (const DeviceRange *shown = space == AddressSpace::Accelerator ? ranges.at(address) : nullptr)
      return blockOf(*shown);
    BlockTable &of = table(space, device);
    const auto [index, fresh] = indexes.try_emplace({space, space == AddressSpace::Accelerator ? device : uint8_t{0}});
    if (fresh)
      of.forEach([&](const Block &block) {
        if (!block.handle)
          index->second.insert(block.address);
      });
    const auto begin = index->second.lastUntil(address);
    Block *block = begin ? of.find(*begin) : nullptr;
    return block && address - block->address < block->size ? block : nullptr;
  }
  // The smallest block that contains the byte, or null. Most addresses are those of blocks, so the indices of other
  // addresses are not made for them. An allocator takes small blocks from its mappings. So a mapping counts only if the
  // byte is in its first page.
  Block *containing(uint64_t address) {
    constexpr AddressSpace kSpaces[] = {AddressSpace::Pool, AddressSpace::Host, AddressSpace::Accelerator};
    for (const AddressSpace space : kSpaces)
      if (Block *block = find(space, address))
        return block;
    for (const AddressSpace space : kSpaces)
      if (Block *block = holding(space, address, 0))
        return block;
    for (const auto &[device, table] : devices)
      if (Block *block = holding(AddressSpace::Accelerator, address, device))
        return block;
    Block *mapping = mappingHolding(address);
    return mapping && address - mapping->address < page_bytes ? mapping : nullptr;
  }
  Block *mappingHolding(uint64_t address) {
    auto at = mappings.upper_bound(address);
    if (at == mappings.begin())
      return nullptr;
    --at;
    return at->second.end() > address ? &at->second.block : nullptr;
  }
  // The mapping that begins before `address` and ends after it, or null.
  Mapping *across(uint64_t address) {
    auto at = mappings.lower_bound(address);
    if (at == mappings.begin())
      return nullptr;
    --at;
    return at->second.end() > address ? &at->second : nullptr;
  }
  // Whether the program frees a block that has ended with its device. The driver refuses this free.
  bool forgetEnded(const abi::FreeEvent &freed) {
    return spaceOf(freed.header.heap) != AddressSpace::Host && ended.erase(freed.address) != 0;
  }
  static uint64_t parkingOf(const StreamEvent &event) {
    return uint64_t{event.stream} << 8 | static_cast<uint8_t>(spaceOf(event.event.header().heap));
  }
};

} // namespace msleaks::analysis::inline live
