#include "kernel/refusal_reason.h"

#include <cerrno>
#include <cstdint>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace msleaks::kernel {
namespace {

// Linux 5.8 made these two of CAP_SYS_ADMIN. Headers of older kernels lack their names.
constexpr unsigned kCapPerfmon = 38, kCapBpf = 39;

bool has(unsigned capability) {
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3]{};
  if (syscall(SYS_capget, &head, data) != 0)
    return false;
  return (data[capability / 32].effective >> capability % 32 & 1) != 0;
}

bool hasPrivilege() { return has(CAP_SYS_ADMIN) || (has(kCapPerfmon) && has(kCapBpf)); }

} // namespace

std::string reasonOf(std::string_view mechanism, int error) {
  const bool is_refusal = error == EPERM || error == EACCES;
  if (is_refusal && !hasPrivilege())
    return "need-caps";
  if (error == ENOSYS)
    return "no-bpf";
  if (error == ENOMEM)
    return "no-memory";
  if (access("/sys/kernel/btf/vmlinux", R_OK) != 0)
    return "no-btf";
  if (is_refusal)
    return mechanism.starts_with("fentry") || mechanism.starts_with("fexit") ? "trampoline-refused" : "refused";
  if (error == ENOENT || error == ESRCH || error == EINVAL)
    return mechanism.starts_with("kprobe") && access("/sys/bus/event_source/devices/kprobe", F_OK) != 0
               ? "no-kprobes"
               : "symbol-absent";
  return "refused";
}

} // namespace msleaks::kernel
