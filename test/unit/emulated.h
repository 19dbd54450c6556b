// Detects whether the tests run under an emulator of system calls, such as qemu-user.
#pragma once

#include <cstddef>
#include <sys/syscall.h>
#include <unistd.h>

namespace msleaks::test {

// An emulator may lack robust futexes. In this case, only the heartbeat shows that a collector is alive.
inline bool kernelHasRobustLists() {
  void *head;
  size_t bytes;
  return syscall(SYS_get_robust_list, 0, &head, &bytes) == 0;
}

// An emulator places its own memory in the address space of the program. So a library that is loaded again may get a
// different address.
inline bool isEmulated() { return !kernelHasRobustLists(); }

} // namespace msleaks::test
