// The counted copies of the kernels that a program has made.
#pragma once

#include "counting/counting_state.h"
#include "opencl/driver.h"

namespace msleaks::hooks::cl {

struct CountedKernel {
  Kernel handle;
  Kernel clone;
  Context context;
  CountedFunction *function;
  unsigned arguments; // number of arguments of the program's kernel
  uint32_t owners = 1;
  bool is_doubtful = false; // the clone is not launched
  Mem given = nullptr;      // the buffer that was set as the clone's last argument
  CountedKernel *next = nullptr;
};

inline constinit CountingState<CountedKernel, OpenClDriver> program_state;

// Calls f with what is known about the kernel, if it has a copy.
template <class F> void onCopy(Kernel kernel, F &&f) {
  if (!program_state.hasKernels())
    return;
  const hook::OwnWork own;
  const CountedLock lock;
  if (CountedKernel *known = program_state.kernels().find(kernel))
    f(*known);
}

// Makes the copy of a kernel that the program has made.
void addCopy(Program program, Kernel kernel, const char *name) noexcept;

// Releases the buffers in which no kernel will count again, if all launches there have ended. Only the exit waits for
// launches. Hold CountedLock.
void releaseUnused() noexcept;

inline constexpr size_t kMostName = 512;

} // namespace msleaks::hooks::cl
