#include "counting/counted_banks.h"

namespace msleaks::hooks {
namespace {

constexpr uint64_t kMostBytes = 256 << 10; // largest size of all banks together, if there are several
constexpr uint32_t kStrataMask = 63;
constexpr uint64_t kPage = 4096;

// If only a sample of the thread blocks counts, each bank gets its own counts in the process' file. They show how much
// the sample may differ from the whole.
void tellBanks(CountedModule &module, uint32_t banks) noexcept {
  for (uint32_t bank = 1; bank < banks && module.counts[bank] == nullptr; ++bank)
    module.counts[bank] = __msl_device_bank(module.unit, module.table->counters);
}

void add(uint64_t &count, uint64_t more) noexcept {
  __atomic_store_n(&count, __atomic_load_n(&count, __ATOMIC_RELAXED) + more, __ATOMIC_RELAXED);
}

} // namespace

bool makeBanks(CountedBanks &banks, CountedModule &module, const abi::DeviceChoice &choice, uint32_t wave) noexcept {
  const uint64_t counters = module.table->counters, bank_bytes = counters * sizeof(uint64_t);
  uint32_t count = kMostBanks;
  while (count > 1 && count * bank_bytes > kMostBytes)
    count /= 2;
  const uint64_t counter_bytes = count * bank_bytes, bytes = sizeof(abi::DeviceCounts) + counter_bytes;
  const uint64_t pages_bytes = (counter_bytes + bytes + kPage - 1) / kPage * kPage;
  auto *const pages = static_cast<char *>(takePages(pages_bytes));
  if (pages == nullptr)
    return false;
  banks.module = &module;
  banks.last = reinterpret_cast<uint64_t *>(pages);
  banks.content = reinterpret_cast<abi::DeviceCounts *>(pages + counter_bytes);
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
  if (banks.content->mode == abi::CountMode::Strata)
    tellBanks(module, count);
  return true;
}

void dropBanks(CountedBanks &banks) noexcept { givePages(banks.last, banks.pages_bytes); }

void addRead(CountedBanks &banks) noexcept {
  const uint64_t counters = banks.module->table->counters;
  const uint64_t *read = banks.counters();
  uint64_t *last = banks.last;
  for (uint32_t bank = 0; bank < banks.banks; ++bank) {
    uint64_t *const own = banks.module->counts[bank], *const counts = own != nullptr ? own : banks.module->counts[0];
    for (uint64_t i = 0; i < counters; ++i, ++read, ++last) {
      add(counts[i], *read - *last);
      *last = *read;
    }
  }
}

} // namespace msleaks::hooks
