#include "counting/counted_kernels.h"

#include "msleaks/runtime/note.h"

#include <cstdio>
#include <cstring>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace msleaks::hooks {
namespace {

constexpr uint64_t kPoolBytes = 64 << 10;
constexpr uint64_t kMostTableBytes = 256 << 20;
constexpr uint32_t kMostShapes = 64; // of one kernel; all further shapes are counted together
constexpr uint64_t kPercent = 100;

constexpr uint32_t kUnknown = 0, kBeingWritten = 1, kKnown = 2; // Counted::choice

struct Counted {
  pthread_mutex_t lock; // zeros are PTHREAD_MUTEX_INITIALIZER
  char *pool;
  uint64_t pool_bytes;
  CountedModule *modules;
  CountedFunction *functions;
  abi::DeviceChoice choice;
  uint32_t choice_state;
};
Wiped<Counted> counted;

template <class Row> const Row *rowsAt(const abi::GraphHeader &header, uint64_t offset) {
  return reinterpret_cast<const Row *>(reinterpret_cast<const char *>(&header) + offset);
}

// Returns the offset of the strings in the table.
uint64_t stringsOf(const abi::GraphHeader &table) noexcept {
  return table.header_bytes + uint64_t{table.function_count} * table.function_bytes +
         uint64_t{table.block_count} * table.block_bytes + uint64_t{table.edge_count} * table.edge_bytes;
}

// Returns the rows about the kernel's arguments. Empty: the table is from an older plugin, or damaged.
abi::ArgumentRows argumentsOf(const abi::GraphHeader &table, const abi::GraphFunction &function) noexcept {
  if (table.function_bytes < sizeof function || table.argument_bytes < sizeof(abi::GraphArgument))
    return {};
  const uint64_t rows = (stringsOf(table) + table.strings_bytes + 7) / 8 * 8;
  const uint64_t begin = rows + uint64_t{function.first_argument} * table.argument_bytes;
  if (begin + uint64_t{function.argument_count} * table.argument_bytes > table.total_bytes)
    return {};
  return {rowsAt<char>(table, begin), table.argument_bytes, function.argument_count,
          (function.flags & abi::kUsesOthers) != 0};
}

const char *nameOf(const abi::GraphHeader &table, const abi::GraphFunction &function) noexcept {
  return rowsAt<char>(table, stringsOf(table) + function.name);
}

bool isOf(const abi::CountedLaunches &launches, const LaunchShape &shape) noexcept {
  return std::memcmp(launches.grid, shape.grid, sizeof shape.grid) == 0 &&
         std::memcmp(launches.block, shape.block, sizeof shape.block) == 0;
}

abi::CountedLaunches *launchesOf(CountedFunction &function, const abi::DeviceChoice &choice,
                                 const LaunchShape &given) noexcept {
  const LaunchShape any{};
  const LaunchShape &shape = function.shape_count < kMostShapes ? given : any;
  for (CountedShape *known = function.shapes; known != nullptr; known = known->next)
    if (isOf(*known->launches, given) || (&shape == &any && isOf(*known->launches, any)))
      return known->launches;
  auto *added = static_cast<CountedShape *>(keep(sizeof(CountedShape)));
  abi::CountedLaunches *launches = added != nullptr ? __msl_device_launches(function.module->unit) : nullptr;
  if (launches == nullptr)
    return nullptr;
  launches->function = function.function;
  launches->mode = choice.mode;
  std::memcpy(launches->grid, shape.grid, sizeof shape.grid);
  std::memcpy(launches->block, shape.block, sizeof shape.block);
  __msl_publish_launches(launches);
  *added = {launches, function.shapes};
  function.shapes = added;
  ++function.shape_count;
  return launches;
}

} // namespace

CountedLock::CountedLock() noexcept {
  Counted *const state = counted.make();
  lock_ = state != nullptr ? &state->lock : nullptr;
  if (lock_ != nullptr)
    ::pthread_mutex_lock(lock_);
}
CountedLock::~CountedLock() {
  if (lock_ != nullptr)
    ::pthread_mutex_unlock(lock_);
}

void *takePages(uint64_t bytes) noexcept {
  const long pages = ::syscall(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == -1 ? nullptr : reinterpret_cast<void *>(pages);
}

void *takeWipedPages(uint64_t bytes) noexcept {
  constexpr int kWipeOnFork = 18; // MADV_WIPEONFORK, Linux 4.14
  void *const pages = takePages(bytes);
  if (pages == nullptr || ::syscall(SYS_madvise, pages, bytes, kWipeOnFork) == 0)
    return pages;
  givePages(pages, bytes);
  return nullptr;
}

void givePages(void *pages, uint64_t bytes) noexcept { ::syscall(SYS_munmap, pages, bytes); }

uint64_t now() noexcept {
  timespec time;
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

void *keep(uint64_t bytes) noexcept {
  Counted *const state = counted.get();
  if (state == nullptr)
    return nullptr;
  bytes = (bytes + 15) / 16 * 16;
  if (bytes > state->pool_bytes) {
    state->pool = static_cast<char *>(takePages(kPoolBytes));
    state->pool_bytes = state->pool != nullptr ? kPoolBytes : 0;
  }
  if (bytes > state->pool_bytes)
    return nullptr;
  void *const kept = state->pool;
  state->pool += bytes;
  state->pool_bytes -= bytes;
  return kept;
}

// Some callers hold the lock, and some do not. So the lock cannot protect the stored choice.
bool countsLaunches(abi::DeviceChoice &choice) noexcept {
  Counted *const state = counted.get();
  if (state != nullptr && __atomic_load_n(&state->choice_state, __ATOMIC_ACQUIRE) == kKnown) {
    choice = state->choice;
  } else if (!__msl_device_choice(&choice)) {
    return false;
  } else if (uint32_t before = kUnknown;
             state != nullptr && __atomic_compare_exchange_n(&state->choice_state, &before, kBeingWritten, false,
                                                             __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    state->choice = choice;
    __atomic_store_n(&state->choice_state, kKnown, __ATOMIC_RELEASE);
  }
  return static_cast<abi::CountLaunches>(choice.launches) != abi::CountLaunches::Off;
}

void noteUncounted(const char *name, const char *why) noexcept {
  char text[200];
  std::snprintf(text, sizeof text, "%s: %s: it is not counted", name, why);
  __msl_note(text);
}

CountedModule *findModule(const char *name) noexcept {
  const Counted *const state = counted.get();
  CountedModule *module = state != nullptr ? state->modules : nullptr;
  while (module != nullptr && std::strcmp(module->name, name) != 0)
    module = module->next;
  return module;
}

bool isKnownTable(const abi::GraphHeader &header, uint64_t bytes, const char *name) noexcept {
  if (header.magic != abi::kGraphMagic) {
    noteUncounted(name, "it is no table of graphs");
    return false;
  }
  if (header.version != abi::kGraphVersion || header.header_bytes != sizeof header) {
    noteUncounted(name, "its table of graphs is of another version");
    return false;
  }
  if (header.total_bytes < sizeof header || header.total_bytes > kMostTableBytes || header.total_bytes > bytes) {
    noteUncounted(name, "its table of graphs has an impossible size");
    return false;
  }
  return true;
}

CountedModule *addModule(const char *name, const abi::GraphHeader *table) noexcept {
  const auto *content = reinterpret_cast<const unsigned char *>(table);
  const uint64_t begin = table->header_bytes, strings = stringsOf(*table);
  if (abi::fnv1a32(content + begin, table->total_bytes - begin) != table->checksum ||
      table->function_bytes < abi::kLeastFunctionBytes || strings + table->strings_bytes > table->total_bytes ||
      table->strings_bytes == 0 || content[strings + table->strings_bytes - 1] != 0) {
    noteUncounted(name, "its table of graphs is damaged");
    return nullptr;
  }
  Counted *const state = counted.get();
  auto *added = static_cast<CountedModule *>(keep(sizeof(CountedModule)));
  uint32_t unit = 0;
  uint64_t *const counts = added != nullptr ? __msl_device_counters(table, &unit) : nullptr;
  if (counts == nullptr)
    return nullptr;
  std::snprintf(added->name, sizeof added->name, "%s", name);
  added->table = table;
  added->counts[0] = counts;
  added->unit = unit;
  added->next = state->modules;
  state->modules = added;
  return added;
}

CountedFunction *functionOf(CountedModule &module, const char *kernel) noexcept {
  Counted *const state = counted.get();
  if (state == nullptr)
    return nullptr;
  const abi::GraphHeader &table = *module.table;
  for (uint32_t i = 0; i < table.function_count; ++i) {
    const auto &row = *rowsAt<abi::GraphFunction>(table, table.header_bytes + uint64_t{i} * table.function_bytes);
    if ((row.flags & abi::kKernel) == 0 || row.name >= table.strings_bytes ||
        std::strcmp(nameOf(table, row), kernel) != 0)
      continue;
    for (CountedFunction *known = state->functions; known != nullptr; known = known->next)
      if (known->module == &module && known->function == i)
        return known;
    auto *added = static_cast<CountedFunction *>(keep(sizeof(CountedFunction)));
    if (added == nullptr)
      return nullptr;
    *added = {&module, i, argumentsOf(table, row), 0, 0, 0, 0, nullptr, 0, state->functions};
    state->functions = added;
    return added;
  }
  return nullptr;
}

bool isWanted(const CountedFunction &function, const abi::DeviceChoice &choice, uint64_t threads) noexcept {
  switch (static_cast<abi::CountLaunches>(choice.launches)) {
  case abi::CountLaunches::Every:
    return function.launches % choice.number == 0;
  case abi::CountLaunches::First:
    return function.launches < choice.number;
  case abi::CountLaunches::Budget:
    return function.launches == 0 ||
           static_cast<double>(function.counted_threads + threads) * static_cast<double>(kPercent) <=
               static_cast<double>(function.threads + threads) * static_cast<double>(choice.number);
  case abi::CountLaunches::Off:
    break;
  }
  return false;
}

void noteLaunch(CountedFunction &function, const abi::DeviceChoice &choice, const LaunchShape &shape,
                bool is_counted) noexcept {
  ++function.launches;
  function.threads += shape.threads;
  if (is_counted) {
    ++function.counted;
    function.counted_threads += shape.threads;
  }
  abi::CountedLaunches *launches = launchesOf(function, choice, shape);
  if (launches == nullptr)
    return;
  ++launches->launches;
  launches->threads += shape.threads;
  if (is_counted) {
    ++launches->counted;
    launches->counted_threads += shape.threads;
  }
}

} // namespace msleaks::hooks
