#include "kernel/own_namespace.h"

#include <sys/stat.h>

namespace msleaks::kernel {
namespace {

constexpr ino_t kFirstNamespace = 0xEFFFFFFC; // PROC_PID_INIT_INO of the kernel

} // namespace

void describeNamespace(Settings &settings) {
  struct stat own{};
  if (stat("/proc/self/ns/pid", &own) != 0 || own.st_ino == kFirstNamespace)
    return;
  settings.namespace_device = own.st_dev;
  settings.namespace_inode = own.st_ino;
}

} // namespace msleaks::kernel
