#include "analysis/second_run/guarded_blocks.h"

#include <algorithm>
#include <utility>

namespace msleaks::analysis::inline second_run {
namespace {

uint64_t roundUp(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

uint64_t bytesOfPart(const GuardedBlock &block, size_t part) {
  return std::min(block.part_bytes, block.bytes - part * block.part_bytes);
}

// The parts of a block that contain [offset, offset + bytes).
struct PartRange {
  size_t first, last;
};
PartRange partsOf(const GuardedBlock &block, uint64_t offset, uint64_t bytes) {
  const uint64_t end = std::min(offset + std::max<uint64_t>(bytes, 1), block.touched.size() * block.part_bytes);
  return {offset / block.part_bytes, (end - 1) / block.part_bytes};
}

bool markTouched(GuardedBlock &block, PartRange parts, uint64_t now_ns) {
  for (size_t part = parts.first; part <= parts.last; ++part)
    block.touched[part] = true;
  if (block.isTouched())
    return false;
  block.first_touch_ns = now_ns;
  return true;
}

} // namespace

uint64_t GuardedBlock::untouchedBytes() const {
  if (resident_bytes)
    return bytes - std::min(*resident_bytes, bytes);
  uint64_t untouched = 0;
  for (size_t part = 0; part < touched.size(); ++part)
    untouched += touched[part] ? 0 : bytesOfPart(*this, part);
  return untouched;
}

uint64_t GuardedBlock::doubtfulBytes(uint64_t page_bytes) const {
  if (resident_bytes)
    return 0;
  uint64_t doubtful = 0;
  for (size_t part = 0; part < touched.size(); ++part)
    if (const uint64_t own = bytesOfPart(*this, part); touched[part] && own > page_bytes)
      doubtful += own - page_bytes;
  return doubtful;
}

uint64_t GuardedBlocks::pagesEnd(const GuardedBlock &block) const {
  return block.address + roundUp(std::max<uint64_t>(block.bytes, 1), page_bytes_);
}

std::shared_ptr<GuardedBlock> GuardedBlocks::add(uint64_t address, uint64_t bytes, uint64_t touched_bytes,
                                                 uint64_t now_ns) {
  auto block = std::make_shared<GuardedBlock>();
  block->address = address;
  block->bytes = bytes;
  block->born_ns = now_ns;
  block->part_bytes = roundUp((bytes + kMostParts - 1) / kMostParts, page_bytes_);
  block->part_bytes = std::max(block->part_bytes, page_bytes_);
  const size_t parts = std::max<uint64_t>((bytes + block->part_bytes - 1) / block->part_bytes, 1);
  block->touched.resize(parts);
  if (touched_bytes > 0)
    markTouched(*block, partsOf(*block, 0, touched_bytes), now_ns);
  blocks_[address] = {block, std::vector<bool>(parts)};
  return block;
}

std::shared_ptr<GuardedBlock> GuardedBlocks::move(uint64_t from, uint64_t to, uint64_t bytes, uint64_t now_ns) {
  auto block = add(to, bytes, 0, now_ns);
  const auto old = blocks_.find(from);
  if (old == blocks_.end())
    return block;
  const GuardedBlock &before = *old->second.block;
  for (size_t part = 0; part < before.touched.size(); ++part)
    if (const uint64_t offset = part * before.part_bytes; before.touched[part] && offset < bytes)
      markTouched(*block, partsOf(*block, offset, before.part_bytes), now_ns);
  block->unwatched = before.unwatched;
  return block;
}

void GuardedBlocks::remove(uint64_t address, uint64_t now_ns) {
  const auto found = blocks_.find(address);
  if (found == blocks_.end())
    return;
  found->second.block->gone_ns = now_ns;
  removed_.emplace_back(address, std::move(found->second));
  blocks_.erase(found);
  if (removed_.size() > kMostRemoved)
    removed_.pop_front();
}

// The page in front of a block is open as long as the process has the block.
void GuardedBlocks::follow(const std::function<bool(uint64_t address)> &isOpen) {
  for (auto &[address, entry] : std::exchange(removed_, {}))
    blocks_.try_emplace(address, std::move(entry));
  std::erase_if(blocks_, [&](const auto &block) { return !isOpen(block.first - page_bytes_); });
  for (auto &[address, entry] : blocks_)
    for (size_t part = 0; part < entry.open.size(); ++part)
      entry.open[part] = isOpen(address + part * entry.block->part_bytes);
}

// If several processes have the block, the largest number of bytes counts.
void GuardedBlocks::measure(uint64_t address, const ResidentBytes &residentBytes) {
  if (const auto found = blocks_.find(address); found != blocks_.end()) {
    GuardedBlock &block = *found->second.block;
    const uint64_t bytes = block.isTouched() ? residentBytes({address, pagesEnd(block)}) : 0;
    block.resident_bytes = std::max(block.resident_bytes.value_or(0), bytes);
  }
}

void GuardedBlocks::measureAll(const ResidentBytes &residentBytes) {
  for (const auto &[address, entry] : blocks_)
    measure(address, residentBytes);
}

GuardedBlocks::Entry *GuardedBlocks::entryAt(uint64_t address) {
  auto found = blocks_.upper_bound(address);
  if (found == blocks_.begin())
    return nullptr;
  --found;
  return address < pagesEnd(*found->second.block) ? &found->second : nullptr;
}

GuardedBlock *GuardedBlocks::at(uint64_t address) const {
  const Entry *entry = const_cast<GuardedBlocks *>(this)->entryAt(address);
  return entry ? entry->block.get() : nullptr;
}

GuardedBlocks::Touch GuardedBlocks::touch(uint64_t address, uint64_t bytes, uint64_t now_ns) {
  Entry *entry = entryAt(address);
  if (!entry)
    return {};
  GuardedBlock &block = *entry->block;
  const PartRange parts = partsOf(block, address - block.address, bytes);
  Touch touch{&block, markTouched(block, parts, now_ns), {}};
  for (size_t part = parts.first; part <= parts.last; ++part) {
    if (entry->open[part])
      continue;
    entry->open[part] = true;
    const uint64_t begin = block.address + part * block.part_bytes;
    if (touch.closed.empty())
      touch.closed.begin = begin;
    touch.closed.end = std::min(begin + block.part_bytes, pagesEnd(block));
  }
  return touch;
}

std::vector<PageRange> GuardedBlocks::openAll() {
  std::vector<PageRange> ranges;
  for (auto &[address, entry] : blocks_) {
    if (std::find(entry.open.begin(), entry.open.end(), false) == entry.open.end())
      continue;
    entry.open.assign(entry.open.size(), true);
    entry.block->unwatched = true;
    ranges.push_back({address, pagesEnd(*entry.block)});
  }
  return ranges;
}

} // namespace msleaks::analysis::inline second_run
