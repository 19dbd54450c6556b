// Arming: the units of an image get site numbers, their tables go to the .defs file, their guards open.
#include "arm.h"

#include "definitions.h"
#include "image.h"
#include "ring.h"
#include "system.h"
#include "units.h"

namespace msleaks::runtime {
namespace {

// One call of an arming function. Kept across a fork: the child tells its own .defs file what its parent had armed.
struct ArmedChunk {
  static constexpr uint32_t kRanges = 255;
  ArmedChunk *next;
  std::atomic<uint32_t> count;
  UnitRange ranges[kRanges]; // an empty one: disarmed
};

constinit ArmedChunk first_chunk{};
constinit uint32_t next_site = 1;

void noteRefused(Arena &arena, const ArmableUnit &unit, const char *why, std::string_view image) noexcept {
  Text<1024> note;
  note << image << ": instrumented for version " << unit.version << " of msleaks, the runtime is version "
       << abi::kObjectVersion << ": " << why << ", its calls are not recorded; build it again";
  defineNote(arena, {note.c_str(), note.size()});
}

void remember(const UnitRange &range) noexcept {
  ArmedChunk *chunk = &first_chunk;
  while (chunk->count.load(std::memory_order_relaxed) == ArmedChunk::kRanges) {
    if (chunk->next == nullptr)
      chunk->next = static_cast<ArmedChunk *>(mapAnonymous(sizeof(ArmedChunk)));
    if (chunk->next == nullptr)
      return;
    chunk = chunk->next;
  }
  const uint32_t count = chunk->count.load(std::memory_order_relaxed);
  chunk->ranges[count] = range;
  chunk->count.store(count + 1, std::memory_order_release); // a fork between the two finds the list without it
}

void forget(const char *begin) noexcept {
  for (ArmedChunk *chunk = &first_chunk; chunk != nullptr; chunk = chunk->next)
    for (uint32_t i = 0; i < chunk->count.load(std::memory_order_relaxed); ++i)
      if (chunk->ranges[i].begin == begin)
        chunk->ranges[i] = {};
}

// Calls f(unit, base) for each unit that is to be armed, until it says no. Each pass over a range gives the same
// numbers.
template <class F>
void forEachNew(const UnitRange &range, const abi::ImageDefinition &image, uint32_t base, F &&f) noexcept {
  forEachUnit(range, [&](const ArmableUnit &unit) {
    if (refusal(unit, image) != nullptr || __atomic_load_n(unit.base, __ATOMIC_RELAXED) != 0)
      return true;
    const uint32_t rows = unit.table->row_count;
    if (rows >= abi::kPathSite - base || !f(unit, base))
      return false;
    base += rows;
    return true;
  });
}

// A guard opens only behind its definition: no event names a site that cannot be explained.
void armRange(Arena &arena, const UnitRange &range, const ImagePlace &place) noexcept {
  const uint32_t image = numberOf(arena, place);
  UnitBatch batch(arena);
  forEachNew(range, place.definition, next_site,
             [&](const ArmableUnit &unit, uint32_t base) { return batch.add({image, base}, *unit.table); });
  if (!batch.flush())
    return;
  // A fork may come between any two of these: its child then knows the range, repeats no number, and defines again what
  // has its number by then.
  remember(range);
  const uint32_t first = next_site;
  uint32_t next = first;
  forEachNew(range, place.definition, first, [&](const ArmableUnit &unit, uint32_t base) {
    next = base + unit.table->row_count;
    return true;
  });
  next_site = next;
  forEachNew(range, place.definition, first, [&](const ArmableUnit &unit, uint32_t base) {
    __atomic_store_n(unit.base, base, __ATOMIC_RELEASE);
    return true;
  });
}

// One note an image, about the first unit that cannot be taken.
void noteRefusedIn(Arena &arena, const UnitRange &range, const ImagePlace &place) noexcept {
  forEachUnit(range, [&](const ArmableUnit &unit) {
    const char *why = refusal(unit, place.definition);
    if (why != nullptr)
      noteRefused(arena, unit, why, pathOf(arena, place));
    return why == nullptr;
  });
}

void redefine(Arena &arena, const UnitRange &range) noexcept {
  ImagePlace place{};
  if (range.begin == nullptr || !findImage(range.begin, place))
    return;
  const uint32_t image = numberOf(arena, place);
  UnitBatch batch(arena);
  forEachUnit(range, [&](const ArmableUnit &unit) {
    const uint32_t base = *unit.base;
    return base == 0 || batch.add({image, base}, *unit.table);
  });
  batch.flush();
}

void arm(const UnitRange &range) noexcept {
  const ErrnoKept kept;
  if (range.begin == range.end ||
      __atomic_load_n(&__msl_enabled, __ATOMIC_ACQUIRE)->load(std::memory_order_relaxed) == 0)
    return;
  ImagePlace place{}; // looked up before our lock: the loader may hold its own
  findImage(range.begin, place);
  const SignalsBlocked blocked;
  const Inside inside(__msl_thread);
  const ProcessLocked locked;
  Arena *arena = attach();
  if (arena == nullptr)
    return;
  noteRefusedIn(*arena, range, place);
  armRange(*arena, range, place);
}

// The guards stay open: at exit, the destructors of other images and of static objects still run through them, and a
// dlclose takes the units away with the image. Only a later fork must not look for them any more.
void disarm(const UnitRange &range) noexcept {
  const ErrnoKept kept;
  const SignalsBlocked blocked;
  const ProcessLocked locked;
  forget(range.begin);
}

} // namespace

void redefineUnits(Arena &arena) noexcept {
  for (ArmedChunk *chunk = &first_chunk; chunk != nullptr; chunk = chunk->next)
    for (uint32_t i = 0; i < chunk->count.load(std::memory_order_acquire); ++i)
      redefine(arena, chunk->ranges[i]);
}

} // namespace msleaks::runtime

using namespace msleaks;
using namespace msleaks::runtime;

void __msl_arm_v2(abi::Unit *begin, abi::Unit *end) noexcept { arm(rangeOf(begin, end)); }
void __msl_disarm_v2(abi::Unit *begin, abi::Unit *end) noexcept { disarm(rangeOf(begin, end)); }
void __msl_arm(abi::UnitV1 *begin, abi::UnitV1 *end) noexcept { arm(rangeOf(begin, end)); }
void __msl_disarm(abi::UnitV1 *begin, abi::UnitV1 *end) noexcept { disarm(rangeOf(begin, end)); }
