// Arming: the units of an image get site numbers, their tables go to the .defs file, their guards open.
#include "arm.h"

#include "definitions.h"
#include "image.h"
#include "ring.h"
#include "system.h"

#include "msleaks/abi/site_table.h"

namespace msleaks::runtime {
namespace {

// One call of __msl_arm. Kept across a fork: the child tells its own .defs file what its parent had armed.
struct ArmedRange {
  abi::Unit *begin, *end; // null: disarmed
};

struct ArmedChunk {
  static constexpr uint32_t kRanges = 255;
  ArmedChunk *next;
  std::atomic<uint32_t> count;
  ArmedRange ranges[kRanges];
};

constinit ArmedChunk first_chunk{};
constinit uint32_t next_site = 1;

void noteRefused(Arena &arena, const abi::Unit &unit, std::string_view image) noexcept {
  Text<1024> note;
  note << image << ": instrumented for version " << unit.abi_version << " of msleaks, the runtime is version "
       << abi::kAbiVersion << ": its calls are not recorded; build it again";
  defineNote(arena, {note.c_str(), note.size()});
}

bool isOurs(const abi::Unit &unit) noexcept {
  return unit.abi_version == abi::kAbiVersion && unit.table->magic == abi::kUnitMagic;
}

void remember(abi::Unit *begin, abi::Unit *end) noexcept {
  ArmedChunk *chunk = &first_chunk;
  while (chunk->count.load(std::memory_order_relaxed) == ArmedChunk::kRanges) {
    if (chunk->next == nullptr)
      chunk->next = static_cast<ArmedChunk *>(mapAnonymous(sizeof(ArmedChunk)));
    if (chunk->next == nullptr)
      return;
    chunk = chunk->next;
  }
  const uint32_t count = chunk->count.load(std::memory_order_relaxed);
  chunk->ranges[count] = {begin, end};
  chunk->count.store(count + 1, std::memory_order_release); // a fork between the two finds the list without it
}

void forget(const abi::Unit *begin) noexcept {
  for (ArmedChunk *chunk = &first_chunk; chunk != nullptr; chunk = chunk->next)
    for (uint32_t i = 0; i < chunk->count.load(std::memory_order_relaxed); ++i)
      if (chunk->ranges[i].begin == begin)
        chunk->ranges[i] = {};
}

// Calls f(unit, base) for each unit that is to be armed, until it says no. Each pass over a range gives the same
// numbers.
template <class F> void forEachNew(abi::Unit *begin, abi::Unit *end, uint32_t base, F &&f) noexcept {
  for (abi::Unit *unit = begin; unit != end; ++unit) {
    if (unit->table == nullptr || !isOurs(*unit) || __atomic_load_n(&unit->base, __ATOMIC_RELAXED) != 0)
      continue;
    const uint32_t rows = unit->table->row_count;
    if (rows >= abi::kCallerSite - base || !f(*unit, base))
      return;
    base += rows;
  }
}

// A guard opens only behind its definition: no event names a site that cannot be explained.
void armRange(Arena &arena, abi::Unit *begin, abi::Unit *end, const ImagePlace &place) noexcept {
  const uint32_t image = numberOf(arena, place);
  UnitBatch batch(arena);
  forEachNew(begin, end, next_site,
             [&](abi::Unit &unit, uint32_t base) { return batch.add({image, base}, *unit.table); });
  if (!batch.flush())
    return;
  // A fork may come between any two of these: its child then knows the range, repeats no number, and defines again what
  // has its number by then.
  remember(begin, end);
  const uint32_t first = next_site;
  uint32_t next = first;
  forEachNew(begin, end, first, [&](abi::Unit &unit, uint32_t base) {
    next = base + unit.table->row_count;
    return true;
  });
  next_site = next;
  forEachNew(begin, end, first, [&](abi::Unit &unit, uint32_t base) {
    __atomic_store_n(&unit.base, base, __ATOMIC_RELEASE);
    return true;
  });
}

void noteRefusedIn(Arena &arena, const abi::Unit *begin, const abi::Unit *end, const ImagePlace &place) noexcept {
  for (const abi::Unit *unit = begin; unit != end; ++unit)
    if (unit->table != nullptr && !isOurs(*unit))
      return noteRefused(arena, *unit, pathOf(arena, place));
}

void redefine(Arena &arena, const ArmedRange &range) noexcept {
  ImagePlace place{};
  if (range.begin == nullptr || !findImage(range.begin, place))
    return;
  const uint32_t image = numberOf(arena, place);
  UnitBatch batch(arena);
  for (const abi::Unit *unit = range.begin; unit != range.end; ++unit)
    if (unit->base != 0 && !batch.add({image, unit->base}, *unit->table))
      return;
  batch.flush();
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

void __msl_arm(abi::Unit *begin, abi::Unit *end) noexcept {
  const ErrnoKept kept;
  if (begin == end || __atomic_load_n(&__msl_enabled, __ATOMIC_ACQUIRE)->load(std::memory_order_relaxed) == 0)
    return;
  ImagePlace place{}; // looked up before our lock: the loader may hold its own
  findImage(begin, place);
  const SignalsBlocked blocked;
  const Inside inside(__msl_thread);
  const ProcessLocked locked;
  Arena *arena = attach();
  if (arena == nullptr)
    return;
  noteRefusedIn(*arena, begin, end, place);
  armRange(*arena, begin, end, place);
}

// The guards stay open: at exit, the destructors of other images and of static objects still run through them, and a
// dlclose takes the units away with the image. Only a later fork must not look for them any more.
void __msl_disarm(abi::Unit *begin, abi::Unit *) noexcept {
  const ErrnoKept kept;
  const SignalsBlocked blocked;
  const ProcessLocked locked;
  forget(begin);
}
