// The layout of the counters of kernels on a device. A counted kernel is a copy of the program's kernel,
// __msl_counted_NAME, with one more argument at the end. This argument is the address of the following data in the
// device's memory:
//
//   DeviceCounts | counters × uint64_t (bank 0) | counters × uint64_t (bank 1) | …
//
// A thread block adds to one bank, which its block number selects. So thread blocks that run at the same time seldom
// wait for each other. If a device has no 64-bit atomics, a counter consists of two 32-bit halves, the lower half
// first.
//
// The table of graphs (graph_table.h) is a constant of the device's module. In OpenCL the host program cannot read a
// constant. So the module has a kernel __msl_graphs_HASH(global ulong *to), which copies the table to `to`. Each work
// item copies one 64-bit word.
#pragma once

#include "msleaks/abi/flags.h"

#include <cstdint>

namespace msleaks::abi {

inline constexpr char kCountedPrefix[] = "__msl_counted_";
inline constexpr char kGraphsPrefix[] = "__msl_graphs_"; // 16 hex digits follow: a hash of the module
inline constexpr char kKernelPrefix[] = "__msl_kernel_";
// Some kernels contain the counting code themselves and have no counted copy. The module of such a kernel NAME has an
// empty kernel __msl_in_kernel_NAME, which marks the kernel. The module also has a variable __msl_counts_HASH, which
// points to a DeviceCounts. While the variable is null, no kernel of the module counts.
inline constexpr char kInKernelPrefix[] = "__msl_in_kernel_";
inline constexpr char kCountsPrefix[] = "__msl_counts_"; // the same 16 hex digits follow as after kGraphsPrefix
inline constexpr uint32_t kDeviceCountsVersion = 1;

struct DeviceCounts {
  uint32_t version; // kDeviceCountsVersion
  CountMode mode;
  uint32_t bank_mask;   // number of banks - 1; the number of banks is a power of two
  uint32_t counters;    // number of counters in a bank
  uint32_t wave;        // number of threads that the device schedules together, at least 1
  uint32_t strata_mask; // 2^n - 1: on average one of 2^n blocks counts, besides the first, the centre and the last one
  uint64_t reserved;
};
static_assert(sizeof(DeviceCounts) == 32);

// The facts that a host program needs to launch a counted kernel. They are in a constant __msl_kernel_NAME of the
// device's module, which the program can read through CUDA and HIP.
struct DeviceKernel {
  uint32_t version;       // kDeviceCountsVersion
  uint32_t arguments;     // number of arguments of the program's kernel; the copy has one more
  uint32_t counts_offset; // offset of the copy's last argument in a buffer with all arguments
  uint32_t wave;          // DeviceCounts::wave
  char table[40];         // the name of the constant with the table of graphs
};
static_assert(sizeof(DeviceKernel) == 56);

// The position of a thread in its launch. `thread` and `threads` count along x first, then along y, then along z.
struct DevicePlace {
  uint64_t block[3], blocks[3];
  uint64_t thread, threads; // the thread's number in its block, and the number of threads in the block
};

constexpr uint64_t linearBlock(const DevicePlace &place) {
  return (place.block[2] * place.blocks[1] + place.block[1]) * place.blocks[0] + place.block[0];
}

inline constexpr uint64_t kStrataFactor = 0x9e3779b97f4a7c15;
inline constexpr uint32_t kStrataShift = 40;

// Whether a thread adds to the counters. The pass inserts code that decides in the same way
// (passes/graphs/device_counters.cpp). The result is the same for all threads of a wave.
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
