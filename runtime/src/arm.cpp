// Arms the units of an image (abi/site_table.h): gives them site numbers, writes their tables to the .defs file, and
// then sets Unit::base. After that, the unit's gates record their calls.
#include "arm.h"

#include "definitions.h"
#include "foreign_sites.h"
#include "image.h"
#include "path_tree.h"
#include "ring.h"
#include "system.h"
#include "units.h"

#include "msleaks/abi/direct_calls.h"
#include "msleaks/abi/system_header.h"
#include "msleaks/runtime/fnv.h"

#include <algorithm>

namespace msleaks::runtime {
namespace {

// The site numbers of the tables that one call of an arming function has defined. The entry stays after the image is
// unloaded, so the same tables get the same numbers when the image is loaded again. A fork's child inherits the entries
// and the definitions.
struct Numbered {
  uint64_t tables; // hash of the image and its tables
  uint32_t first;
  uint32_t rows;
};

struct NumberedChunk {
  static constexpr uint32_t kCapacity = 255;
  NumberedChunk *next;
  std::atomic<uint32_t> count;
  Numbered entries[kCapacity];
};

constinit NumberedChunk first_chunk{};
constinit uint32_t next_site = 1;

// Images that were loaded while the process could have no arena, for example because there was no collector. Images
// beyond kMaxWaiting are not armed.
struct WaitingImage {
  UnitRange range;
  ImagePlace place;
};
constexpr uint32_t kMaxWaiting = 256;
constinit WaitingImage waiting[kMaxWaiting]{};

// The first units of instrumented images in folders of libraries. Images beyond kMaxInstrumented count as libraries. A
// fork's child inherits the entries.
constexpr uint32_t kMaxInstrumented = 256;
constexpr const char *kNone = nullptr;
constinit const char *instrumented[kMaxInstrumented]{};

// The number of notes that may still be written. A program may load and unload the same image very often.
constinit uint32_t notes_left = 64;

void noteRefused(Arena &arena, const ArmableUnit &unit, const char *why, std::string_view image) noexcept {
  Text<1024> note;
  note << image << ": instrumented for version " << unit.version << " of msleaks, the runtime is version "
       << abi::kObjectVersion << ": " << why << ", its calls are not recorded; build it again";
  defineNote(arena, {note.c_str(), note.size()});
}

void remember(const Numbered &numbered) noexcept {
  NumberedChunk *chunk = &first_chunk;
  while (chunk->count.load(std::memory_order_relaxed) == NumberedChunk::kCapacity) {
    if (chunk->next == nullptr)
      chunk->next = static_cast<NumberedChunk *>(mapAnonymous(sizeof(NumberedChunk)));
    if (chunk->next == nullptr)
      return;
    chunk = chunk->next;
  }
  const uint32_t count = chunk->count.load(std::memory_order_relaxed);
  chunk->entries[count] = numbered;
  chunk->count.store(count + 1, std::memory_order_release); // stored last, so a fork's child finds a complete list
}

// Returns the first site number of the tables `wanted`, or 0 if these tables were not numbered before.
uint32_t knownNumber(const Numbered &wanted) noexcept {
  for (const NumberedChunk *chunk = &first_chunk; chunk != nullptr; chunk = chunk->next)
    for (uint32_t i = 0; i < chunk->count.load(std::memory_order_acquire); ++i)
      if (chunk->entries[i].tables == wanted.tables && chunk->entries[i].rows == wanted.rows)
        return chunk->entries[i].first;
  return 0;
}

// Calls f(unit, base) for each unit that must be armed, until f returns false or no numbers are left.
template <class F>
void forEachNew(const UnitRange &range, const abi::ImageDefinition &image, uint32_t first, F &&f) noexcept {
  uint32_t base = first;
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

struct Measured {
  Numbered numbered; // Numbered::first is not set
  uint32_t units;    // number of units, including units without rows, which may have frames
};

Measured measure(Arena &arena, const UnitRange &range, const ImagePlace &place) noexcept {
  const std::string_view path = pathOf(arena, place);
  Numbered numbered{fnv(kFnvBegin, path.data(), path.size()), 0, 0};
  numbered.tables = fnv(numbered.tables, place.definition.build_id, place.definition.build_id_bytes);
  uint32_t units = 0;
  forEachNew(range, place.definition, next_site, [&](const ArmableUnit &unit, uint32_t) {
    // The hash of the header is enough, since the header contains the checksum of the rows, frames and strings.
    numbered.tables = fnv(numbered.tables, unit.table, abi::kFirstHeaderBytes);
    numbered.rows += unit.table->row_count;
    ++units;
    return true;
  });
  return {numbered, units};
}

bool define(Arena &arena, const UnitRange &range, const ImagePlace &place) noexcept {
  const uint32_t image = numberOf(arena, place);
  UnitBatch batch(arena);
  forEachNew(range, place.definition, next_site,
             [&](const ArmableUnit &unit, uint32_t base) { return batch.add({image, base}, *unit.table); });
  return batch.flush();
}

// Makes an image the user's own (ImageKind::Own). The image may be known already, if a constructor before this one has
// allocated.
void markOwn(Arena &arena, const UnitRange &range, const ImagePlace &place) noexcept {
  if (!abi::isLibraryImage(pathOf(arena, place)))
    return;
  const auto free = std::find(std::begin(instrumented), std::end(instrumented), kNone);
  if (free != std::end(instrumented))
    *free = range.begin;
  ImageKind kind = ImageKind::Own;
  if (const uint32_t image = knownImageAt(arena, reinterpret_cast<uint64_t>(range.begin)); image != 0)
    __atomic_store(&arena.images[image - 1].kind, &kind, __ATOMIC_RELAXED);
}

// Arms the units of an image. Unit::base is set after the unit is defined, so each recorded site is defined. The
// process may fork between any two steps. In the child too, no number is used twice, and each unit with a base is
// defined.
void armRange(Arena &arena, const UnitRange &range, const ImagePlace &place) noexcept {
  auto [numbered, units] = measure(arena, range, place);
  if (units == 0)
    return;
  markOwn(arena, range, place);
  numbered.first = knownNumber(numbered);
  if (numbered.first == 0) {
    if (!define(arena, range, place))
      return;
    numbered.first = next_site;
    next_site += numbered.rows;
    remember(numbered);
  }
  forEachNew(range, place.definition, numbered.first, [&](const ArmableUnit &unit, uint32_t base) {
    markForeign(*unit.table, base);
    __atomic_store_n(unit.base, base, __ATOMIC_RELEASE);
    return true;
  });
}

// Writes one note per image, about the first unit that cannot be armed.
void noteRefusedIn(Arena &arena, const UnitRange &range, const ImagePlace &place) noexcept {
  forEachUnit(range, [&](const ArmableUnit &unit) {
    const char *why = refusal(unit, place.definition);
    if (why != nullptr && notes_left > 0) {
      --notes_left;
      noteRefused(arena, unit, why, pathOf(arena, place));
    }
    return why == nullptr;
  });
}

void armIn(Arena &arena, const UnitRange &range, const ImagePlace &place) noexcept {
  noteRefusedIn(arena, range, place);
  armRange(arena, range, place);
}

// Replaces the entry whose range begins at `begin`. If `begin` is null, replaces a free entry.
void replaceWaiting(const char *begin, const WaitingImage &with) noexcept {
  for (WaitingImage &entry : waiting)
    if (entry.range.begin == begin) {
      entry = with;
      return;
    }
}

// Whether armed units may call the direct entries. Without hooks there are no direct entries.
bool areDirectCallsReady() noexcept { return __msl_direct_ready == nullptr || __msl_direct_ready() != 0; }

// Arms the units of an image. This happens also while the session is stopped, since it may start later.
void arm(const UnitRange &range) noexcept {
  const ErrnoKept kept;
  if (range.begin == range.end || isInert() || !areDirectCallsReady())
    return;
  ImagePlace place{}; // found without the runtime's lock, since the loader acquires its own lock
  findImage(range.begin, place);
  const SignalsBlocked blocked;
  const Inside inside(__msl_thread);
  const ProcessLocked locked;
  if (Arena *arena = locked ? attach() : nullptr; arena != nullptr)
    armIn(*arena, range, place);
  else if (locked && !isInert())
    replaceWaiting(nullptr, {range, place});
}

// Removes the image from the lists. Unit::base of armed units does not change: at exit, the
// destructors of other images and of static objects still make instrumented calls.
void disarm(const UnitRange &range) noexcept {
  const ErrnoKept kept;
  const SignalsBlocked blocked;
  const ProcessLocked locked;
  if (!locked)
    return;
  replaceWaiting(range.begin, {});
  std::replace(std::begin(instrumented), std::end(instrumented), const_cast<const char *>(range.begin), kNone);
}

} // namespace

bool isInstrumented(const abi::ImageDefinition &image) noexcept {
  return std::any_of(std::begin(instrumented), std::end(instrumented), [&](const char *units) {
    return units != kNone && reinterpret_cast<uint64_t>(units) - image.begin < image.end - image.begin;
  });
}

void armWaiting(Arena &arena) noexcept {
  for (WaitingImage &entry : waiting) {
    if (entry.range.begin != nullptr && entry.place.definition.end != 0)
      armIn(arena, entry.range, entry.place);
    entry = {};
  }
}

} // namespace msleaks::runtime

using namespace msleaks;
using namespace msleaks::runtime;

void __msl_arm_v2(abi::Unit *begin, abi::Unit *end) noexcept { arm(rangeOf(begin, end)); }
void __msl_disarm_v2(abi::Unit *begin, abi::Unit *end) noexcept { disarm(rangeOf(begin, end)); }
void __msl_arm(abi::UnitV1 *begin, abi::UnitV1 *end) noexcept { arm(rangeOf(begin, end)); }
void __msl_disarm(abi::UnitV1 *begin, abi::UnitV1 *end) noexcept { disarm(rangeOf(begin, end)); }
