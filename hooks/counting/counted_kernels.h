// Code for the hooks of all APIs whose kernels have counted copies (abi/device_counts.h). It reads the tables of graphs
// from devices, and chooses the launches that are counted.
#pragma once

#include "counting/wiped.h"

#include "msleaks/abi/counts_file.h"
#include "msleaks/abi/device_counts.h"
#include "msleaks/abi/graph_table.h"

#include <cstddef>
#include <cstring>
#include <pthread.h>

namespace msleaks::hooks {

using Handle = const void *; // an object of a driver

inline constexpr uint32_t kMostBanks = 64;

// A module of a device. It stays known by its name: if a program makes the module again, its counts go on.
struct CountedModule {
  char name[40]; // __msl_graphs_HASH
  const abi::GraphHeader *table;
  uint64_t *counts[kMostBanks]; // by bank: its counters in the process' file; null: the bank adds to bank 0
  uint32_t unit;
  CountedModule *next;
};

// The launches of one kernel with one shape.
struct CountedShape {
  abi::CountedLaunches *launches;
  CountedShape *next;
};

// A kernel of a module. Several handles may launch it.
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

// Hold this lock while you call the functions below, except takePages, countsLaunches, noteUncounted and now. In a
// fork's child the lock is free.
class CountedLock {
public:
  CountedLock() noexcept;
  ~CountedLock();
  CountedLock(const CountedLock &) = delete;
  CountedLock &operator=(const CountedLock &) = delete;
  // False: there is no memory for the lock, and nothing can be counted.
  explicit operator bool() const noexcept { return lock_ != nullptr; }

private:
  pthread_mutex_t *lock_;
};

// Returns zeroed memory that is never freed; null: there is no memory.
void *keep(uint64_t bytes) noexcept;
// Returns zeroed pages. givePages (wiped.h) frees them.
void *takePages(uint64_t bytes) noexcept;

// Stores the session's choice. False: there is no session, or no launch is counted. After the first CountedLock of the
// process, the runtime is asked only once.
bool countsLaunches(abi::DeviceChoice &choice) noexcept;

// Writes a note: why the kernels of this name or of this module are not counted.
void noteUncounted(const char *name, const char *why) noexcept;

CountedModule *findModule(const char *name) noexcept;
// Whether this is a table of the known version, of at most `bytes` bytes. If not, writes a note.
bool isKnownTable(const abi::GraphHeader &header, uint64_t bytes, const char *name) noexcept;
// Adds a module. The table must stay where it is. Null: the table is damaged, or nothing can be counted.
CountedModule *addModule(const char *name, const abi::GraphHeader *table) noexcept;

// Adds a module whose table lies on a device. `bytes`: how many bytes may be read there. `copy` copies bytes from the
// table's beginning: (void *to, uint64_t bytes). Its result false means that it failed.
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

// Returns the time of CLOCK_MONOTONIC in nanoseconds.
uint64_t now() noexcept;

// Returns the module's kernel of this name; null: the module has none.
CountedFunction *functionOf(CountedModule &module, const char *kernel) noexcept;

// Whether the next launch of this kernel is to be counted. `threads`: its number of threads.
bool isWanted(const CountedFunction &function, const abi::DeviceChoice &choice, uint64_t threads) noexcept;
void noteLaunch(CountedFunction &function, const abi::DeviceChoice &choice, const LaunchShape &shape,
                bool is_counted) noexcept;

} // namespace msleaks::hooks
