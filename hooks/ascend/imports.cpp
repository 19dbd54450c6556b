// Hooks of ACL's functions that import memory of another process by a key, and give it back by the same key.
#include "devices/imports.h"

#include "ascend/forms.h"
#include "devices/device.h"
#include "msleaks/runtime/fnv.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>

using namespace msleaks;
using namespace msleaks::hooks;

namespace {

constexpr auto kAcl = abi::Family::Acl;

// The addresses of imported memory, by the hash of its key. If there are too many, the newest are not stored, and stay
// open in the report.
class KeptByKey {
public:
  // The address reserves the entry, and the key publishes it.
  void keep(uint64_t key, uint64_t address) noexcept {
    for (Entry &entry : entries_)
      if (uint64_t none = 0; entry.address.compare_exchange_strong(none, address))
        return entry.key.store(key, std::memory_order_release);
  }
  uint64_t take(uint64_t key) noexcept { // 0: there is none
    for (Entry &entry : entries_)
      if (uint64_t wanted = key; entry.key.compare_exchange_strong(wanted, 0))
        return entry.address.exchange(0);
    return 0;
  }

private:
  struct Entry {
    std::atomic<uint64_t> key = 0, address = 0;
  };
  std::array<Entry, 256> entries_{};
};
constinit KeptByKey imported;

uint64_t hashOf(const char *key) {
  return runtime::fnv(runtime::kFnvBegin, key, std::strlen(key)) | 1; // 0 means none
}

MSL_ASKED(range, "libascendcl", "aclrtMemGetAddressRange")
constexpr auto kRangeOf = [](uint64_t *begin, size_t *bytes, uint64_t address) {
  return callReal<int(uint64_t, uint64_t *, size_t *)>(range, address, begin, bytes);
};

constexpr auto kImportByKey = [](auto real, void *caller, void **block, const char *key, uint64_t flags) {
  const int status = kOpened<kAcl, kRangeOf>(real, caller, block, key, flags);
  if (status == 0 && key != nullptr)
    imported.keep(hashOf(key), reinterpret_cast<uint64_t>(*block));
  return status;
};
// The process that exports the memory closes the key, too. It has imported nothing.
constexpr auto kCloseByKey = [](auto real, void *caller, const char *key) {
  const uint64_t block = key != nullptr ? imported.take(hashOf(key)) : 0;
  if (block == 0)
    return real(key);
  const int status = kClosed<kAcl>([=](uint64_t) { return real(key); }, caller, block);
  if (status != 0)
    imported.keep(hashOf(key), block);
  return status;
};

} // namespace

#define MSL_PART_IMPORTS
#include "msleaks/abi/functions/acl.def"
