#include "analysis/reach/told_blocks.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>

namespace msleaks::analysis::inline reach {
namespace {

uint64_t addressOfBlock(const abi::LargeBlock &block) { return block.address.load(std::memory_order_relaxed); }

// 0: the entry is free.
uint64_t sizeAt(const abi::LargeBlock &entry) {
  return addressOfBlock(entry) != 0 ? entry.size.load(std::memory_order_relaxed) : 0;
}

// The process uses an entry only if the address is the same before and after it has read the other fields.
void store(abi::LargeBlock &entry, uint64_t address, uint64_t size, uint64_t time_ns) {
  entry.address.store(0, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_release); // the 0 becomes visible before the other fields change
  entry.size.store(size, std::memory_order_relaxed);
  entry.time_ns.store(time_ns, std::memory_order_relaxed);
  entry.address.store(address, std::memory_order_release);
}

} // namespace

void ToldBlocks::add(uint64_t address, uint64_t size, uint64_t time_ns) {
  if (told_ == nullptr || address == 0)
    return;
  remove(address);
  abi::LargeBlock *entry =
      std::min_element(std::begin(told_->blocks), std::end(told_->blocks),
                       [](const auto &one, const auto &other) { return sizeAt(one) < sizeAt(other); });
  if (sizeAt(*entry) >= size)
    return;
  store(*entry, address, size, time_ns);
  tellFilter();
}

void ToldBlocks::remove(uint64_t address) {
  if (told_ == nullptr || address == 0)
    return;
  for (abi::LargeBlock &block : told_->blocks)
    if (addressOfBlock(block) == address)
      return removeFrom(block, address);
}

void ToldBlocks::addSample(uint64_t address, uint64_t size, uint64_t time_ns) {
  if (told_ == nullptr || address == 0)
    return;
  store(told_->samples[abi::sampleIndexOf(address)], address, size, time_ns);
  tellFilter();
}

void ToldBlocks::removeSample(uint64_t address) {
  if (told_ != nullptr && address != 0)
    removeFrom(told_->samples[abi::sampleIndexOf(address)], address);
}

// The process may have removed the entry already.
void ToldBlocks::removeFrom(abi::LargeBlock &entry, uint64_t address) {
  entry.address.compare_exchange_strong(address, 0);
  tellFilter();
}

// Each free of the process reads a word of the filter. So a word that stays the same is not written: it stays in the
// process's cache.
void ToldBlocks::tellFilter() {
  std::array<uint64_t, abi::kLargeFilterWords> words{};
  for (const std::span<const abi::LargeBlock> list :
       {std::span<const abi::LargeBlock>(told_->blocks), std::span<const abi::LargeBlock>(told_->samples)})
    for (const abi::LargeBlock &block : list)
      if (const uint64_t address = addressOfBlock(block); address != 0)
        words[abi::largeBitOf(address) / 64] |= uint64_t{1} << abi::largeBitOf(address) % 64;
  for (size_t i = 0; i < words.size(); ++i)
    if (told_->filter[i].load(std::memory_order_relaxed) != words[i])
      told_->filter[i].store(words[i], std::memory_order_relaxed);
}

} // namespace msleaks::analysis::inline reach
