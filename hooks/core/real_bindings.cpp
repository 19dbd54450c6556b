#include "core/real_bindings.h"

#include "core/loaded_images.h"

#include <dlfcn.h>
#include <link.h>

// Exists since glibc 2.35, and takes no lock. It is weak, so that this library can also be loaded with an older glibc.
extern "C" [[gnu::weak]] int _dl_find_object(void *, dl_find_object *) noexcept;

namespace msleaks::hooks {

constinit Binding bindings[kBindings] = {};

namespace {

constinit std::atomic<uint32_t> epoch_now{0};

// Each bit says whether a part of the table has ever had an entry.
constexpr uint32_t kPart = kBindings / 64;
constinit std::atomic<uint64_t> used_parts{0};

// An entry for each function that was looked up, or that is missing.
struct OfFunction {
  std::atomic<const hook::Function *> function;
  std::atomic<void *> looked_up;
  std::atomic<bool> is_missing;
};
constexpr uint32_t kFunctions = 4096;
constinit OfFunction functions[kFunctions] = {};

// Null: the function has no entry, and none was made.
OfFunction *entryOf(const hook::Function &function, bool make) noexcept {
  uint32_t slot = static_cast<uint32_t>(reinterpret_cast<uint64_t>(&function) * 0x9e3779b97f4a7c15u >> 52);
  for (uint32_t i = 0; i < kFunctions; ++i, slot = (slot + 1) % kFunctions) {
    const hook::Function *found = functions[slot].function.load(std::memory_order_acquire);
    if (found == nullptr && (!make || functions[slot].function.compare_exchange_strong(found, &function)))
      return make ? &functions[slot] : nullptr;
    if (found == &function)
      return &functions[slot];
  }
  return nullptr;
}
static_assert(kFunctions == 1u << (64 - 52));

bool begin(Binding &binding, uint32_t &version) noexcept {
  version = binding.version.load(std::memory_order_relaxed);
  if (version % 2 != 0 || !binding.version.compare_exchange_strong(version, version + 1, std::memory_order_acquire))
    return false;
  std::atomic_thread_fence(std::memory_order_release);
  return true;
}

struct Entry {
  uint64_t key;
  const hook::Function *function;
  void *real;
};

void write(Binding &binding, uint32_t version, const Entry &entry) noexcept {
  binding.key.store(entry.key, std::memory_order_relaxed);
  binding.function.store(entry.function, std::memory_order_relaxed);
  binding.real.store(entry.real, std::memory_order_relaxed);
  binding.version.store(version + 2, std::memory_order_release);
}

bool belongsTo(const Binding &binding, const Entry &entry) noexcept {
  return binding.key.load(std::memory_order_relaxed) == entry.key &&
         binding.function.load(std::memory_order_relaxed) == entry.function;
}

bool isOfPage(uint64_t key) noexcept { return key % kCodePage == static_cast<uint64_t>(Of::Page); }

// Whether the entry can be written here. The entry of a page may replace that of another page, whose real function can
// be found again by its image. Otherwise the imports of a large program fill the table for good.
bool mayWrite(const Binding &binding, const Entry &entry, bool replaces) noexcept {
  const uint64_t key = binding.key.load(std::memory_order_relaxed);
  return key == 0 || belongsTo(binding, entry) || (replaces && isOfPage(key) && isOfPage(entry.key));
}

// Returns false if the slot has the entry of another caller. Writes nothing if another thread writes there.
bool bindIn(uint32_t slot, const Entry &entry, uint32_t epoch, bool replaces) noexcept {
  Binding &binding = bindings[slot];
  if (!mayWrite(binding, entry, replaces))
    return false;
  uint32_t version;
  if (!begin(binding, version))
    return true;
  if (!mayWrite(binding, entry, replaces)) {
    binding.version.store(version + 2, std::memory_order_release);
    return false;
  }
  used_parts.fetch_or(uint64_t{1} << slot / kPart, std::memory_order_relaxed);
  write(binding, version, entry);
  if (epoch_now.load(std::memory_order_seq_cst) != epoch && begin(binding, version)) {
    if (belongsTo(binding, entry))
      write(binding, version, {});
    else
      binding.version.store(version + 2, std::memory_order_release);
  }
  return true;
}

// This thread holds the lock of the images. So it must not call dladdr, which waits for another lock.
bool isLoaded(LoadedImages &images, const void *address) noexcept {
  dl_find_object found;
  return _dl_find_object != nullptr ? _dl_find_object(const_cast<void *>(address), &found) == 0
                                    : images.find(address) != LoadedImages::kNone;
}

} // namespace

void *boundTo(const hook::Function &function, uint64_t key) noexcept {
  uint32_t slot = bindingSlot(function, key);
  for (uint32_t i = 0; i < kBindingProbes; ++i, slot = (slot + 1) % kBindings)
    if (void *const real = realIn(bindings[slot], function, key))
      return real;
  return nullptr;
}

uint32_t bindingEpoch() noexcept { return epoch_now.load(std::memory_order_acquire); }

void bind(const hook::Function &function, uint64_t key, void *real, uint32_t epoch) noexcept {
  const uint32_t home = bindingSlot(function, key);
  for (const bool replaces : {false, true})
    for (uint32_t i = 0; i < kBindingProbes; ++i) {
      const uint32_t slot = (home + i) % kBindings;
      if (bindIn(slot, {key, &function, real}, epoch, replaces))
        return;
    }
}

void *bindLookUps(const hook::Function &function, void *real) noexcept {
  OfFunction *entry = entryOf(function, true);
  if (entry == nullptr)
    return nullptr;
  void *known = nullptr;
  entry->looked_up.compare_exchange_strong(known, real);
  return known == nullptr ? real : known;
}

void *boundLookUp(const hook::Function &function) noexcept {
  const OfFunction *entry = entryOf(function, false);
  return entry != nullptr ? entry->looked_up.load(std::memory_order_acquire) : nullptr;
}

bool isNewlyMissing(const hook::Function &function) noexcept {
  OfFunction *entry = entryOf(function, true);
  return entry != nullptr && !entry->is_missing.exchange(true);
}

void forgetUnloaded() noexcept {
  epoch_now.fetch_add(1, std::memory_order_seq_cst);
  withLoadedImages([](LoadedImages &images) {
    const uint64_t used = used_parts.load(std::memory_order_relaxed);
    for (uint32_t slot = 0; slot < kBindings; ++slot) {
      if ((used >> slot / kPart & 1) == 0)
        continue;
      Binding &binding = bindings[slot];
      const uint64_t key = binding.key.load(std::memory_order_relaxed), page = key & ~(kCodePage - 1);
      if (key == 0 || ((page == 0 || isLoaded(images, reinterpret_cast<const void *>(page))) &&
                       isLoaded(images, binding.real.load(std::memory_order_relaxed))))
        continue;
      uint32_t version;
      if (begin(binding, version))
        write(binding, version, {});
    }
    for (OfFunction &function : functions)
      if (void *real = function.looked_up.load(std::memory_order_relaxed);
          real != nullptr && !isLoaded(images, real))
        function.looked_up.compare_exchange_strong(real, nullptr);
  });
}

const void *imageBegin(const void *address) noexcept {
  if (_dl_find_object != nullptr) {
    dl_find_object found;
    return _dl_find_object(const_cast<void *>(address), &found) == 0 ? found.dlfo_map_start : nullptr;
  }
  Dl_info place;
  return ::dladdr(address, &place) != 0 ? place.dli_fbase : nullptr;
}

} // namespace msleaks::hooks
