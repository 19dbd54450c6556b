#include "counters.h"

#include "definitions.h"
#include "ring.h"
#include "system.h"
#include "thread_exit.h"

#include "msleaks/runtime/leaving.h"

#include <pthread.h>

namespace msleaks::runtime {
namespace {

constexpr uint64_t kPoolBytes = 64 << 10;

// The counters of this process or of its parent; null: there are none. A fork sets Process::counting to null, but not
// this pointer. Through it, the child finds its parent's arrays, and sets its own slots that point to them to null.
constinit Counting *last_counting = nullptr;
constinit bool is_fork_watched = false;

template <class F> void forEachOwnArray(const Counting &counting, F &&f) noexcept {
  const void *const self = __builtin_thread_pointer();
  for (const CountedUnit *unit = counting.units; unit != nullptr; unit = unit->next)
    for (CounterArray *array = unit->arrays; array != nullptr; array = array->next)
      if (array->slot != nullptr && array->thread == self)
        f(*array);
}

Counting *countingOf() noexcept {
  Counting *&counting = __msl_process.counting;
  if (counting == nullptr) {
    counting = static_cast<Counting *>(mapAnonymous(sizeof(Counting)));
    last_counting = counting;
  }
  if (counting != nullptr && !is_fork_watched)
    is_fork_watched = ::pthread_atfork(nullptr, nullptr, __msl_forked) == 0;
  return is_fork_watched ? counting : nullptr;
}

template <class T> T *make(Counting &counting) noexcept {
  if (counting.pool_bytes < sizeof(T)) {
    counting.pool = static_cast<char *>(mapAnonymous(kPoolBytes));
    counting.pool_bytes = counting.pool != nullptr ? kPoolBytes : 0;
  }
  if (counting.pool_bytes < sizeof(T))
    return nullptr;
  T *made = reinterpret_cast<T *>(counting.pool);
  counting.pool += sizeof(T);
  counting.pool_bytes -= sizeof(T);
  return made;
}

// Writes the table to the file, and returns its number. Returns 0 if there is no room.
uint32_t tellTable(Counting &counting, Arena &arena, const abi::GraphHeader &table) noexcept {
  const uint64_t bytes = table.total_bytes;
  abi::CountsRecord *record = addRecord(counting.file, arena, abi::CountsKind::Unit, counting.unit_count + 1, bytes);
  if (record == nullptr)
    return 0;
  std::memcpy(bodyOf(record), &table, bytes);
  publish(record);
  return ++counting.unit_count;
}

CountedUnit *tell(Counting &counting, Arena &arena, const abi::GraphUnit &unit) noexcept {
  CountedUnit *told = make<CountedUnit>(counting);
  const uint32_t number = told != nullptr ? tellTable(counting, arena, *unit.table) : 0;
  if (number == 0)
    return nullptr;
  *told = {&unit, number, nullptr, counting.units};
  counting.units = told;
  return told;
}

void noteOther(Counting &counting, Arena &arena, const abi::GraphUnit &unit) noexcept {
  if (counting.is_other_noted)
    return;
  counting.is_other_noted = true;
  Text<256> note;
  note << "edges of a module are not counted: its table of graphs is of version " << uint64_t{unit.version}
       << ", this runtime knows " << uint64_t{abi::kGraphVersion} << ": build it again with this msleaks";
  defineNote(arena, {note.c_str(), note.size()});
}

CountedUnit *unitOf(Counting &counting, Arena &arena, const abi::GraphUnit &unit) noexcept {
  for (CountedUnit *known = counting.units; known != nullptr; known = known->next)
    if (known->unit == &unit)
      return known;
  if (unit.version == abi::kGraphVersion && unit.table->magic == abi::kGraphMagic)
    return tell(counting, arena, unit);
  noteOther(counting, arena, unit);
  return nullptr;
}

CounterArray *freeArray(const CountedUnit &unit) noexcept {
  for (CounterArray *array = unit.arrays; array != nullptr; array = array->next)
    if (array->slot == nullptr)
      return array;
  return nullptr;
}

CounterArray *makeArray(Counting &counting, Arena &arena, CountedUnit &unit) noexcept {
  abi::CountsRecord *record =
      addRecord(counting.file, arena, abi::CountsKind::Counters, unit.number, unit.unit->counters * sizeof(uint64_t));
  CounterArray *array = record != nullptr ? make<CounterArray>(counting) : nullptr;
  if (array == nullptr)
    return nullptr;
  record->checksum = unit.unit->table->checksum;
  publish(record);
  *array = {nullptr, nullptr, static_cast<uint64_t *>(bodyOf(record)), unit.arrays};
  unit.arrays = array;
  return array;
}

uint64_t *countersFor(Arena &arena, const abi::GraphUnit &unit, uint64_t **slot) noexcept {
  Counting *counting = countingOf();
  CountedUnit *counted = counting != nullptr ? unitOf(*counting, arena, unit) : nullptr;
  if (counted == nullptr)
    return nullptr;
  CounterArray *array = freeArray(*counted);
  if (array == nullptr)
    array = makeArray(*counting, arena, *counted);
  if (array == nullptr)
    return nullptr;
  array->slot = slot;
  array->thread = __builtin_thread_pointer();
  if (!__msl_thread.ended)
    announceThreadExit();
  return array->counts;
}

uint64_t *countersOnDevice(Arena &arena, uint32_t number, uint64_t counters, uint32_t checksum = 0) noexcept {
  Counting *counting = countingOf();
  abi::CountsRecord *record =
      counting != nullptr && number != 0
          ? addRecord(counting->file, arena, abi::CountsKind::Counters, number, counters * sizeof(uint64_t))
          : nullptr;
  if (record == nullptr)
    return nullptr;
  record->checksum = checksum;
  publish(record);
  return static_cast<uint64_t *>(bodyOf(record));
}

} // namespace

void leaveParentsCounters() noexcept {
  if (last_counting == __msl_process.counting)
    return;
  if (last_counting != nullptr)
    forEachOwnArray(*last_counting, [](const CounterArray &array) { *array.slot = nullptr; });
  last_counting = nullptr;
}

void endCounters() noexcept {
  const ArenaHeld held;
  if (held && __msl_process.counting != nullptr)
    forEachOwnArray(*__msl_process.counting, [](CounterArray &array) {
      *array.slot = nullptr;
      array.slot = nullptr;
    });
}

} // namespace msleaks::runtime

using namespace msleaks;
using namespace msleaks::runtime;

void __msl_forked() noexcept { leaveParentsCounters(); }

uint64_t *__msl_counters_of(const abi::GraphUnit *unit, uint64_t **slot) noexcept {
  const ArenaHeld held;
  Arena *arena = held.arena();
  return arena != nullptr ? countersFor(*arena, *unit, slot) : nullptr;
}

uint64_t *__msl_device_counters(const abi::GraphHeader *table, uint32_t *unit) noexcept {
  const ArenaHeld held;
  Arena *arena = held.arena();
  Counting *counting = arena != nullptr ? countingOf() : nullptr;
  *unit = counting != nullptr ? tellTable(*counting, *arena, *table) : 0;
  return *unit != 0 ? countersOnDevice(*arena, *unit, table->counters, table->checksum) : nullptr;
}

uint64_t *__msl_device_bank(uint32_t unit, uint32_t counters) noexcept {
  const ArenaHeld held;
  Arena *arena = held.arena();
  return arena != nullptr ? countersOnDevice(*arena, unit, counters) : nullptr;
}

abi::CountedLaunches *__msl_device_launches(uint32_t unit) noexcept {
  const ArenaHeld held;
  Arena *arena = held.arena();
  Counting *counting = arena != nullptr ? countingOf() : nullptr;
  abi::CountsRecord *record = counting != nullptr ? addRecord(counting->file, *arena, abi::CountsKind::Launches, unit,
                                                              sizeof(abi::CountedLaunches))
                                                  : nullptr;
  return record != nullptr ? static_cast<abi::CountedLaunches *>(bodyOf(record)) : nullptr;
}

void __msl_publish_launches(abi::CountedLaunches *launches) noexcept {
  publish(reinterpret_cast<abi::CountsRecord *>(launches) - 1);
}

bool __msl_device_choice(abi::DeviceChoice *choice) noexcept {
  const ArenaHeld held;
  if (held.arena() == nullptr)
    return false;
  const abi::Flags &flags = session.control->flags;
  *choice = {static_cast<uint32_t>(flags.cfg_mode), static_cast<uint32_t>(flags.cfg_launches),
             flags.cfg_launches_number};
  return true;
}

const char *__msl_kernel_compiler() noexcept {
  const ArenaHeld held;
  return attach() != nullptr ? session.control->kernel_compiler : "";
}

// Removes a module. The counts stay in the file. A module that is later loaded at the same address gets new arrays.
void __msl_uncount(const abi::GraphUnit *unit) noexcept {
  const ArenaHeld held;
  if (!held || __msl_process.counting == nullptr)
    return;
  for (CountedUnit *counted = __msl_process.counting->units; counted != nullptr; counted = counted->next)
    if (counted->unit == unit) {
      counted->unit = nullptr;
      counted->arrays = nullptr;
    }
}
