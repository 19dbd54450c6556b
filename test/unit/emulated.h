// Whether an emulator of system calls (qemu-user) runs the tests.
#pragma once

#include <cstddef>
#include <sys/syscall.h>
#include <unistd.h>

namespace msleaks::test {

// An emulator may have no robust futex. Then only the heartbeat shows that a collector lives.
inline bool kernelHasRobustLists() {
  void *head;
  size_t bytes;
  return syscall(SYS_get_robust_list, 0, &head, &bytes) == 0;
}

// It maps memory of its own between that of the program: a library may come back to another address.
inline bool isEmulated() { return !kernelHasRobustLists(); }

} // namespace msleaks::test
