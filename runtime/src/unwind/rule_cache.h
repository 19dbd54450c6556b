// Caches unwind rules by address. Any thread, also in a signal handler, reads and writes the cache without a lock. If
// two threads write an entry at the same time and each stores one half, the entry matches no address.
#pragma once

#include "unwind/rule.h"

#include <atomic>
#include <bit>

namespace msleaks::runtime::unwind {

class RuleCache {
public:
  static constexpr unsigned kEntries = 1u << 16;

  [[gnu::always_inline]] bool find(uint64_t address, Rule &rule) const noexcept {
    return setOf(address)[0].read(keyOf(address), rule) || findOlder(address, rule);
  }

  // Stores a rule as the first rule of its set, and removes the oldest rule of the set. If a set had only one rule, two
  // addresses of a loop could replace each other again and again. Reading a rule from the tables takes as long as
  // hundreds of look-ups in the cache.
  void put(uint64_t address, const Rule &rule) noexcept {
    if (isUnloading(epoch()))
      return;
    Entry *set = setOf(address);
    for (unsigned way = kWays - 1; way > 0; --way)
      set[way].copy(set[way - 1]);
    set[0].write(keyOf(address), rule);
  }

  // These functions make all stored rules invalid. Call beginUnload before a call that may unload code, and endUnload
  // after it. In between, no rule is stored, since another library may be loaded at the same addresses.
  void beginUnload() noexcept { epoch_.fetch_add(kOneEpoch + 1, std::memory_order_relaxed); }
  void endUnload() noexcept { epoch_.fetch_add(kOneEpoch - 1, std::memory_order_relaxed); }

  // The epoch changes whenever code may have been unloaded.
  uint64_t epoch() const noexcept { return epoch_.load(std::memory_order_relaxed); }
  static bool isUnloading(uint64_t epoch) noexcept { return epoch % kOneEpoch != 0; }

private:
  static constexpr unsigned kWays = 4; // number of rules in a set; they fill a cache line
  struct Entry {
    std::atomic<uint64_t> key, rule; // `key` is the address's key XOR `rule`

    [[gnu::always_inline]] bool read(uint64_t wanted, Rule &found) const noexcept {
      const uint64_t word = rule.load(std::memory_order_relaxed);
      if ((key.load(std::memory_order_relaxed) ^ word) != wanted)
        return false;
      found = unpacked(word);
      return true;
    }
    void write(uint64_t new_key, const Rule &new_rule) noexcept {
      const uint64_t word = packed(new_rule);
      rule.store(word, std::memory_order_relaxed);
      key.store(new_key ^ word, std::memory_order_relaxed);
    }
    void copy(const Entry &other) noexcept {
      rule.store(other.rule.load(std::memory_order_relaxed), std::memory_order_relaxed);
      key.store(other.key.load(std::memory_order_relaxed), std::memory_order_relaxed);
    }
  };
  static constexpr uint64_t kGolden = 0x9e37'79b9'7f4a'7c15;
  static constexpr uint64_t kOneEpoch = 1u << 16; // the bits below this bit count unloads that have not ended

  static unsigned firstOf(uint64_t address) noexcept {
    constexpr unsigned kSetBits = std::countr_zero(kEntries / kWays);
    return static_cast<unsigned>(address * kGolden >> (64 - kSetBits)) * kWays;
  }
  const Entry *setOf(uint64_t address) const noexcept { return entries_ + firstOf(address); }
  Entry *setOf(uint64_t address) noexcept { return entries_ + firstOf(address); }
  [[gnu::noinline]] bool findOlder(uint64_t address, Rule &rule) const noexcept {
    const Entry *set = setOf(address);
    for (unsigned way = 1; way < kWays; ++way)
      if (set[way].read(keyOf(address), rule))
        return true;
    return false;
  }
  // Returns the key of an address. It is not 0 for an address of code, since 0 means an empty entry.
  uint64_t keyOf(uint64_t address) const noexcept { return address ^ (epoch() + 1) * kGolden; }

  std::atomic<uint64_t> epoch_{0};
  alignas(64) Entry entries_[kEntries];
};

} // namespace msleaks::runtime::unwind
