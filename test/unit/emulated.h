// Tells whether an emulator of system calls (qemu-user) runs the tests.
#pragma once

#include <cstddef>
#include <sys/syscall.h>
#include <unistd.h>

namespace msleaks::test {

// An emulator may have no robust futexes. Then only the heartbeat shows that a collector is alive.
inline bool kernelHasRobustLists() {
  void *head;
  size_t bytes;
  return syscall(SYS_get_robust_list, 0, &head, &bytes) == 0;
}

// An emulator maps its own memory between that of the program. So a library may be loaded at another address the second
// time.
inline bool isEmulated() { return !kernelHasRobustLists(); }

} // namespace msleaks::test
