// Counters of kernels on a device. A counted kernel is a copy of the program's, __msl_counted_NAME, with one more
// argument behind its own: the address of a block of this form in the device's memory.
//
//   DeviceCounts | counters × uint64_t (bank 0) | counters × uint64_t (bank 1) | …
//
// A block of threads adds to the bank that its number gives, so that blocks which run at the same time do not wait for
// each other. Where a device has no atomics of 64 bits, a counter is two halves of 32, the lower one first.
//
// The table of graphs (graph_table.h) is a constant of the device's module. In OpenCL, where nobody can read a
// constant, a kernel __msl_graphs_HASH(global ulong *to) copies it: work item i copies the 64 bits at 8 × i.
#pragma once

#include "msleaks/abi/flags.h"

#include <cstdint>

namespace msleaks::abi {

inline constexpr char kCountedPrefix[] = "__msl_counted_";
inline constexpr char kGraphsPrefix[] = "__msl_graphs_"; // and 16 hex digits, by which modules differ
inline constexpr char kKernelPrefix[] = "__msl_kernel_";
// A kernel that counts itself has no copy. An empty kernel __msl_in_kernel_NAME says that it does so, and its module
// has a variable __msl_counts_HASH for the address of a DeviceCounts. While that is null, no kernel of the module
// counts.
inline constexpr char kInKernelPrefix[] = "__msl_in_kernel_";
inline constexpr char kCountsPrefix[] = "__msl_counts_"; // and the digits of the module's graphs
inline constexpr uint32_t kDeviceCountsVersion = 1;

struct DeviceCounts {
  uint32_t version; // kDeviceCountsVersion
  CountMode mode;
  uint32_t bank_mask;   // banks - 1; banks are a power of two
  uint32_t counters;    // of a bank
  uint32_t wave;        // threads that the device schedules together, at least 1
  uint32_t strata_mask; // a power of two - 1: one block in so many counts
  uint64_t reserved;
};
static_assert(sizeof(DeviceCounts) == 32);

// What a launch of a copy needs to know, where a program can read a constant of a device's module (CUDA, HIP):
// __msl_kernel_NAME.
struct DeviceKernel {
  uint32_t version;       // kDeviceCountsVersion
  uint32_t arguments;     // of the program's kernel; the copy has one more
  uint32_t counts_offset; // where the last one begins, of all of them behind each other in memory
  uint32_t wave;          // DeviceCounts::wave
  char table[40];         // the name of the constant with the table of graphs
};
static_assert(sizeof(DeviceKernel) == 56);

// A block of threads as it sees itself; blocks and threads have linear numbers, x first, and the part of it that a
// thread belongs to.
struct DevicePlace {
  uint64_t block[3], blocks[3];
  uint64_t thread, threads; // of the block
};

constexpr uint64_t linearBlock(const DevicePlace &place) {
  return (place.block[2] * place.blocks[1] + place.block[1]) * place.blocks[0] + place.block[0];
}

inline constexpr uint64_t kStrataFactor = 0x9e3779b97f4a7c15;
inline constexpr uint32_t kStrataShift = 40;

// What the code that the pass inserts decides (passes/graphs/device_counters.cpp); the same for all threads of a wave.
constexpr bool counts(const DevicePlace &place, CountMode mode, uint32_t wave, uint32_t strata_mask) {
  bool centre = true;
  uint64_t last = 1;
  for (int i = 0; i < 3; ++i) {
    centre = centre && place.block[i] == place.blocks[i] / 2;
    last *= place.blocks[i];
  }
  const uint64_t block = linearBlock(place);
  switch (mode) {
  case CountMode::Full:
    return true;
  case CountMode::Cta:
    return centre;
  case CountMode::Wavefront:
    return centre && place.thread / wave == (place.threads + wave - 1) / wave / 2;
  case CountMode::Strata:
    return centre || block == 0 || block == last - 1 || ((block * kStrataFactor >> kStrataShift) & strata_mask) == 0;
  }
  return false;
}

} // namespace msleaks::abi
