// What the hooks of an API that launches kernels have in common where kernels have counted copies
// (abi/device_counts.h): the tables that the process has told, and which launches are counted.
#pragma once

#include "wiped.h"

#include "msleaks/abi/counts_file.h"
#include "msleaks/abi/device_counts.h"
#include "msleaks/abi/graph_table.h"

#include <cstddef>
#include <cstring>
#include <pthread.h>

namespace msleaks::hooks {

inline constexpr uint32_t kMostBanks = 64;

// A module of a device. It is known for good, by its name: programs that are made again count on.
struct CountedModule {
  char name[40]; // __msl_graphs_HASH
  const abi::GraphHeader *table;
  uint64_t *counts[kMostBanks]; // by counter, in the process' file; a bank without them counts with the first
  uint32_t unit;
  CountedModule *next;
};

// The launches of one shape, and the next one's.
struct CountedShape {
  abi::CountedLaunches *launches;
  CountedShape *next;
};

// Of one name of a module, whoever launches it.
struct CountedFunction {
  CountedModule *module;
  uint32_t function;
  abi::ArgumentRows arguments;
  uint64_t launches, counted, threads, counted_threads;
  CountedShape *shapes;
  uint32_t shape_count;
  CountedFunction *next;
};

struct LaunchShape {
  uint64_t grid[3], block[3]; // 0: not known
  uint64_t threads;
};

// Everything below but countsLaunches is called with this held. The child of a fork finds it free.
class CountedLock {
public:
  CountedLock() noexcept;
  ~CountedLock();
  CountedLock(const CountedLock &) = delete;
  CountedLock &operator=(const CountedLock &) = delete;
  // False: there is no memory for it, and nothing can be counted.
  explicit operator bool() const noexcept { return lock_ != nullptr; }

private:
  pthread_mutex_t *lock_;
};

// Zeros that are never given back; null: there is no memory.
void *keep(uint64_t bytes) noexcept;
// Pages of zeros. givePages (wiped.h) gives them back.
void *takePages(uint64_t bytes) noexcept;

// False: there is no session, or no launch shall be counted. The runtime is asked once, where a CountedLock was taken
// before.
bool countsLaunches(abi::DeviceChoice &choice) noexcept;

// A note of the session: why the kernels of this name, or of a module, run as they are.
void noteUncounted(const char *name, const char *why) noexcept;

CountedModule *findModule(const char *name) noexcept;
// Whether it is a table as we know it, of which `bytes` may be read; says why not in the session's log.
bool isKnownTable(const abi::GraphHeader &header, uint64_t bytes, const char *name) noexcept;
// With a table that stays where it is; null: it is damaged, or nothing can be counted.
CountedModule *addModule(const char *name, const abi::GraphHeader *table) noexcept;

// The module whose table the device has. `copy` copies it from its beginning: (void *to, uint64_t bytes), false: it
// cannot; `bytes` of it may be read.
template <class Copy> CountedModule *readModule(const char *name, uint64_t bytes, Copy copy) {
  abi::GraphHeader header{};
  if (!copy(&header, sizeof header) || !isKnownTable(header, bytes, name))
    return nullptr;
  void *const pages = takePages(header.total_bytes);
  if (pages == nullptr)
    return nullptr;
  CountedModule *module = nullptr;
  if (copy(pages, header.total_bytes) && std::memcmp(pages, &header, sizeof header) == 0)
    module = addModule(name, static_cast<abi::GraphHeader *>(pages));
  if (module == nullptr)
    givePages(pages, header.total_bytes);
  return module;
}

// Nanoseconds, from some point on.
uint64_t now() noexcept;

// Of the module's kernel of this name; null: it has none.
CountedFunction *functionOf(CountedModule &module, const char *kernel) noexcept;

// Whether the launch, which is the next one of this kernel, is to be counted.
bool isWanted(const CountedFunction &function, const abi::DeviceChoice &choice, uint64_t threads) noexcept;
void noteLaunch(CountedFunction &function, const abi::DeviceChoice &choice, const LaunchShape &shape,
                bool is_counted) noexcept;

} // namespace msleaks::hooks
