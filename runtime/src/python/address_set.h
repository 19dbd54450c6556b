// A set of addresses, for several threads at once. It takes no lock, so the child of a fork can use it.
#pragma once

#include "../own_memory.h"

#include <atomic>
#include <cstdint>

namespace msleaks::runtime::python {

// An address is in one of two buckets. A bucket is a line of the cache. An address that finds no room is not added.
class AddressSet {
public:
  // Call it before other threads use the set. Returns false if there is no memory.
  bool open() noexcept {
    buckets_ = static_cast<Bucket *>(mapAnonymous(kBuckets * sizeof(Bucket)));
    return buckets_ != nullptr;
  }
  // The address must not be in the set.
  bool add(uint64_t address) noexcept {
    const uint64_t hash = hashOf(address);
    return put(buckets_[hash % kBuckets], address) || put(buckets_[(hash >> 32) % kBuckets], address);
  }
  // Returns whether the address was in the set. Its block is alive, so no other thread adds or removes it now.
  bool remove(uint64_t address) noexcept {
    const uint64_t hash = hashOf(address);
    return take(buckets_[hash % kBuckets], address) || take(buckets_[(hash >> 32) % kBuckets], address);
  }

private:
  static constexpr uint64_t kBuckets = 1 << 17, kPlaces = 8;
  struct alignas(64) Bucket {
    std::atomic<uint64_t> places[kPlaces]; // 0 = free
  };

  static uint64_t hashOf(uint64_t address) noexcept {
    const uint64_t mixed = address * 0x9e37'79b9'7f4a'7c15;
    return (mixed ^ mixed >> 29) * 0xff51'afd7'ed55'8ccd;
  }
  static bool put(Bucket &bucket, uint64_t address) noexcept {
    for (std::atomic<uint64_t> &place : bucket.places)
      if (uint64_t free = 0; place.load(std::memory_order_relaxed) == 0 &&
                             place.compare_exchange_strong(free, address, std::memory_order_relaxed))
        return true;
    return false;
  }
  static bool take(Bucket &bucket, uint64_t address) noexcept {
    for (std::atomic<uint64_t> &place : bucket.places)
      if (place.load(std::memory_order_relaxed) == address) {
        place.store(0, std::memory_order_relaxed);
        return true;
      }
    return false;
  }

  Bucket *buckets_ = nullptr;
};

} // namespace msleaks::runtime::python
