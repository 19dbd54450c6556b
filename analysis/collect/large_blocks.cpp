#include "analysis/collect/large_blocks.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace msleaks::analysis {
namespace {

uint64_t addressOf(const abi::LargeBlock &block) { return block.address.load(std::memory_order_relaxed); }

// 0: the place is empty.
uint64_t sizeAt(const abi::LargeBlock &place) {
  return addressOf(place) != 0 ? place.size.load(std::memory_order_relaxed) : 0;
}

} // namespace

// The process takes a block only if its address is the same before and after it has read the rest.
void LargeBlocks::add(uint64_t address, uint64_t size, uint64_t time_ns) {
  if (told_ == nullptr || address == 0)
    return;
  remove(address);
  abi::LargeBlock *place =
      std::min_element(std::begin(told_->blocks), std::end(told_->blocks),
                       [](const auto &one, const auto &other) { return sizeAt(one) < sizeAt(other); });
  if (sizeAt(*place) >= size)
    return;
  place->address.store(0, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_release); // seen before the rest changes
  place->size.store(size, std::memory_order_relaxed);
  place->time_ns.store(time_ns, std::memory_order_relaxed);
  place->address.store(address, std::memory_order_release);
  tellFilter();
}

void LargeBlocks::remove(uint64_t address) {
  if (told_ == nullptr || address == 0)
    return;
  for (abi::LargeBlock &block : told_->blocks) {
    uint64_t expected = address;
    if (addressOf(block) == address && block.address.compare_exchange_strong(expected, 0))
      return tellFilter();
  }
}

void LargeBlocks::tellFilter() {
  std::array<uint64_t, abi::kLargeFilterWords> words{};
  for (const abi::LargeBlock &block : told_->blocks)
    if (const uint64_t address = addressOf(block); address != 0)
      words[abi::largeBitOf(address) / 64] |= uint64_t{1} << abi::largeBitOf(address) % 64;
  for (size_t i = 0; i < words.size(); ++i)
    told_->filter[i].store(words[i], std::memory_order_relaxed);
}

} // namespace msleaks::analysis
