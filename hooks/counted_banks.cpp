#include "counted_banks.h"

namespace msleaks::hooks {
namespace {

constexpr uint64_t kMostBytes = 256 << 10; // of banks, if there are several
constexpr uint32_t kMostBanks = 64;
constexpr uint32_t kStrataMask = 63;
constexpr uint64_t kPage = 4096;

} // namespace

bool makeBanks(CountedBanks &banks, CountedModule &module, const abi::DeviceChoice &choice, uint32_t wave) noexcept {
  const uint64_t counters = module.table->counters, bank_bytes = counters * sizeof(uint64_t);
  uint32_t count = kMostBanks;
  while (count > 1 && count * bank_bytes > kMostBytes)
    count /= 2;
  const uint64_t bytes = sizeof(abi::DeviceCounts) + count * bank_bytes;
  const uint64_t pages_bytes = (bank_bytes + bytes + kPage - 1) / kPage * kPage;
  auto *const pages = static_cast<char *>(takePages(pages_bytes));
  if (pages == nullptr)
    return false;
  banks.module = &module;
  banks.last = reinterpret_cast<uint64_t *>(pages);
  banks.content = reinterpret_cast<abi::DeviceCounts *>(pages + bank_bytes);
  banks.bytes = bytes;
  banks.pages_bytes = pages_bytes;
  banks.banks = count;
  *banks.content = {abi::kDeviceCountsVersion,
                    static_cast<abi::CountMode>(choice.mode),
                    count - 1,
                    static_cast<uint32_t>(counters),
                    wave,
                    kStrataMask,
                    0};
  return true;
}

void dropBanks(CountedBanks &banks) noexcept { givePages(banks.last, banks.pages_bytes); }

void addRead(CountedBanks &banks) noexcept {
  const uint64_t counters = banks.module->table->counters;
  const uint64_t *const read = banks.counters();
  for (uint64_t i = 0; i < counters; ++i) {
    uint64_t sum = 0;
    for (uint64_t bank = 0; bank < banks.banks; ++bank)
      sum += read[bank * counters + i];
    const uint64_t known = __atomic_load_n(&banks.module->counts[i], __ATOMIC_RELAXED);
    __atomic_store_n(&banks.module->counts[i], known + sum - banks.last[i], __ATOMIC_RELAXED);
    banks.last[i] = sum;
  }
}

} // namespace msleaks::hooks
