#include "msleaks/runtime/caller.h"

#include "image.h"
#include "path_tree.h"
#include "pause.h"
#include "python/late_python.h"
#include "ring.h"
#include "sandbox_reserve.h"
#include "system.h"
#include "unwind/walk.h"

namespace msleaks::runtime {
namespace {

constexpr uint32_t kNone = UINT32_MAX;
constexpr uint32_t kProbes = 64; // number of entries that a search reads; if all are occupied, the table counts as full

constinit Pause pause_of_table;

// Returns the index of the address's entry. If there is none, returns the index of the free entry for the address, or
// kNone.
uint32_t probe(const abi::Caller *callers, uint64_t address, uint64_t &found) noexcept {
  for (uint32_t i = 0, slot = callerSlot(address); i < kProbes; ++i, slot = (slot + 1) % abi::kMaxCallers) {
    found = callers[slot].address.load(std::memory_order_acquire);
    if (found == address || found == 0)
      return slot;
  }
  return kNone;
}

abi::Caller *callersOf(Arena &arena) noexcept {
  if (__msl_process.callers != nullptr)
    return __msl_process.callers;
  if (!makeCallers(arena))
    return nullptr;
  auto *table = reinterpret_cast<abi::Caller *>(reinterpret_cast<char *>(arena.header) + arena.header->callers_offset);
  __atomic_store_n(&__msl_process.callers, table, __ATOMIC_RELEASE);
  return table;
}

// Returns the index of the entry of an address in a given image; the entry may be retired. If there is none, returns
// the index of the free entry for the address, or kNone.
uint32_t probe(const abi::Caller *callers, uint64_t address, uint32_t image, uint64_t &found) noexcept {
  for (uint32_t i = 0, slot = callerSlot(address); i < kProbes; ++i, slot = (slot + 1) % abi::kMaxCallers) {
    found = callers[slot].address.load(std::memory_order_acquire);
    if (found == address || found == 0 || (found == (address | abi::kRetiredCaller) && callers[slot].image == image))
      return slot;
  }
  return kNone;
}

void retire(abi::Caller *callers, uint32_t image) noexcept {
  for (uint32_t slot = 0; slot < abi::kMaxCallers; ++slot) {
    const uint64_t address = callers[slot].address.load(std::memory_order_relaxed);
    if (address != 0 && callers[slot].image == image)
      callers[slot].address.store(address | abi::kRetiredCaller, std::memory_order_release);
  }
}

uint32_t insert(uint64_t address, const ImagePlace &place, bool known) noexcept {
  const SignalsBlocked blocked;
  const Inside inside(__msl_thread);
  const ProcessLocked locked;
  Arena *arena = locked ? attach() : nullptr;
  abi::Caller *callers = arena != nullptr ? callersOf(*arena) : nullptr;
  if (callers == nullptr) {
    pause_of_table.begin();
    return 0;
  }
  const uint32_t image = known ? numberOf(*arena, place) : 0;
  uint64_t found = 0;
  const uint32_t slot = probe(callers, address, image, found);
  if (slot == kNone)
    return 0;
  if (found == 0)
    callers[slot].image = image;
  if (found != address)
    callers[slot].address.store(address, std::memory_order_release);
  return abi::kCallerSite | slot;
}

void retireUnloaded(Arena &arena) noexcept {
  const uint32_t count = __atomic_load_n(&arena.image_count, __ATOMIC_ACQUIRE);
  // findLoaded() runs without the runtime's lock. If an image is loaded again during this search, the next call from
  // the image restores its entries.
  const LoadedImages loaded = findLoaded(arena, count);
  for (uint32_t i = 0; i < count; ++i) {
    Image &image = arena.images[i];
    if (__atomic_load_n(&image.gone, __ATOMIC_RELAXED) || loaded.holds(i))
      continue;
    const SignalsBlocked blocked;
    const Inside inside(__msl_thread);
    const ProcessLocked locked;
    if (!locked)
      return;
    __atomic_store_n(&image.gone, true, __ATOMIC_RELAXED);
    python::forgetIn(image);
    if (__msl_process.callers != nullptr)
      retire(__msl_process.callers, i + 1);
    if (__msl_process.paths != nullptr)
      __msl_process.paths->retire(i + 1);
  }
}

} // namespace

void reserveCallers(Arena &arena) noexcept { callersOf(arena); }

} // namespace msleaks::runtime

uint32_t __msl_new_caller(uint64_t return_address) noexcept {
  using namespace msleaks;
  using namespace msleaks::runtime;
  const ErrnoKept kept;
  if (const abi::Caller *callers = __atomic_load_n(&__msl_process.callers, __ATOMIC_ACQUIRE)) {
    uint64_t found = 0;
    const uint32_t slot = probe(callers, return_address, found);
    if (slot == kNone)
      return 0;
    if (found == return_address)
      return abi::kCallerSite | slot;
  } else if (pause_of_table.holds()) {
    return 0;
  }
  ImagePlace place{};
  const bool known = findImage(reinterpret_cast<const void *>(return_address), place);
  return insert(return_address, place, known);
}

void __msl_unloading() noexcept { msleaks::runtime::unwind::rules.beginUnload(); }

void __msl_unloaded() noexcept {
  using namespace msleaks::runtime;
  const ErrnoKept kept;
  if (Arena *arena = __msl_process.arena)
    retireUnloaded(*arena);
  unwind::rules.endUnload();
}
