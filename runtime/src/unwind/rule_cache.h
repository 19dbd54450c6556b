// The rules of addresses that were met before. Any thread, also one in a signal handler, reads and writes it without a
// lock: an entry whose halves come from two writers does not match.
#pragma once

#include "unwind/rule.h"

#include <atomic>

namespace msleaks::runtime::unwind {

class RuleCache {
public:
  static constexpr unsigned kBits = 16;

  [[gnu::always_inline]] bool find(uint64_t address, Rule &rule) const noexcept {
    const Entry &entry = entries_[slotOf(address)];
    const uint64_t word = entry.rule.load(std::memory_order_relaxed);
    if ((entry.key.load(std::memory_order_relaxed) ^ word) != keyOf(address))
      return false;
    rule = unpacked(word);
    return true;
  }

  void put(uint64_t address, const Rule &rule) noexcept {
    if (isUnloading(epoch()))
      return;
    Entry &entry = entries_[slotOf(address)];
    const uint64_t word = packed(rule);
    entry.rule.store(word, std::memory_order_relaxed);
    entry.key.store(keyOf(address) ^ word, std::memory_order_relaxed);
  }

  // Around what may unload code. No rule that was put before is found any more, and none is put meanwhile: another
  // library may come to the same place before we hear of the end.
  void beginUnload() noexcept { epoch_.fetch_add(kOneEpoch + 1, std::memory_order_relaxed); }
  void endUnload() noexcept { epoch_.fetch_add(kOneEpoch - 1, std::memory_order_relaxed); }

  // Changes whenever code may have been unloaded.
  uint64_t epoch() const noexcept { return epoch_.load(std::memory_order_relaxed); }
  static bool isUnloading(uint64_t epoch) noexcept { return epoch % kOneEpoch != 0; }

private:
  struct Entry {
    std::atomic<uint64_t> key, rule;
  };
  static constexpr uint64_t kGolden = 0x9e37'79b9'7f4a'7c15;
  static constexpr uint64_t kOneEpoch = 1u << 16; // below it: unloads under way

  static unsigned slotOf(uint64_t address) noexcept { return static_cast<unsigned>(address * kGolden >> (64 - kBits)); }
  // Of an empty entry it is 0, which no address of an epoch gives.
  uint64_t keyOf(uint64_t address) const noexcept { return address ^ (epoch() + 1) * kGolden; }

  std::atomic<uint64_t> epoch_{0};
  Entry entries_[1u << kBits];
};

} // namespace msleaks::runtime::unwind
