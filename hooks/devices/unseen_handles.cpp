#include "devices/unseen_handles.h"

#include <atomic>

namespace msleaks::hooks {
namespace {

struct Entry {
  std::atomic<uint64_t> key; // 0 = free
  std::atomic<int32_t> owners; // 0: released, but a mapping may return the handle again; kEnded: the handle of a block
};
constexpr int32_t kEnded = -1;
constexpr uint32_t kEntries = 4096, kProbes = 64;
constinit Entry entries[kEntries] = {};

uint64_t keyOfHandle(abi::Family family, uint64_t handle) noexcept {
  return (handle ^ (static_cast<uint64_t>(family) + 1) << 56) | (handle == 0 ? 1u : 0u);
}
uint32_t homeOf(uint64_t key) noexcept { return static_cast<uint32_t>(key * 0x9e3779b97f4a7c15u >> 52); }
static_assert(kEntries == 1u << (64 - 52));

Entry *find(uint64_t key) noexcept {
  for (uint32_t i = 0, slot = homeOf(key); i < kProbes; ++i, slot = (slot + 1) % kEntries) {
    const uint64_t found = entries[slot].key.load(std::memory_order_acquire);
    if (found == key)
      return &entries[slot];
    if (found == 0)
      return nullptr;
  }
  return nullptr;
}

Entry *makeEntry(uint64_t key) noexcept {
  for (uint32_t i = 0, slot = homeOf(key); i < kProbes; ++i, slot = (slot + 1) % kEntries) {
    uint64_t found = entries[slot].key.load(std::memory_order_acquire);
    const bool is_free = found == 0 || entries[slot].owners.load(std::memory_order_relaxed) == kEnded;
    if (found == key || (is_free && entries[slot].key.compare_exchange_strong(found, key)) || found == key)
      return &entries[slot];
  }
  return nullptr;
}

} // namespace

void keepUnseen(abi::Family family, uint64_t handle) noexcept {
  const uint64_t key = keyOfHandle(family, handle);
  Entry *known = find(key);
  if (known == nullptr)
    known = makeEntry(key);
  if (known == nullptr)
    return;
  int32_t owners = known->owners.load(std::memory_order_relaxed);
  while (!known->owners.compare_exchange_weak(owners, owners == kEnded ? 1 : owners + 1, std::memory_order_relaxed)) {
  }
}

bool isUnseen(abi::Family family, uint64_t handle) noexcept {
  const Entry *known = find(keyOfHandle(family, handle));
  return known != nullptr && known->owners.load(std::memory_order_relaxed) != kEnded;
}

void dropUnseen(abi::Family family, uint64_t handle) noexcept {
  Entry *known = find(keyOfHandle(family, handle));
  int32_t owners = known != nullptr ? known->owners.load(std::memory_order_relaxed) : 0;
  while (owners > 0 && !known->owners.compare_exchange_weak(owners, owners - 1, std::memory_order_relaxed)) {
  }
}

void endUnseen(abi::Family family, uint64_t handle) noexcept {
  if (Entry *known = find(keyOfHandle(family, handle)))
    known->owners.store(kEnded, std::memory_order_relaxed);
}

} // namespace msleaks::hooks
