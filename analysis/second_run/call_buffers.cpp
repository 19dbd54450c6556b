#include "analysis/second_run/call_buffers.h"

#include "analysis/reach/process_memory.h"
#include "msleaks/abi/guarded.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

namespace msleaks::analysis::inline second_run {
namespace {

constexpr size_t kMostBuffers = 1024; // the kernel's limit for a list (UIO_MAXIOV)

template <size_t kCount> bool holds(const std::array<int, kCount> &calls, uint64_t number) {
  return std::find(calls.begin(), calls.end(), static_cast<int>(number)) != calls.end();
}

constexpr std::array kMappingCalls{SYS_mmap,  SYS_munmap,  SYS_mremap, SYS_mprotect, SYS_madvise, SYS_mincore,
                                   SYS_mlock, SYS_munlock, SYS_mbind,  SYS_brk,      SYS_exit,    SYS_exit_group};
constexpr std::array kChangingCalls{SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect};
constexpr std::array kListCalls{SYS_readv,   SYS_writev,   SYS_preadv,  SYS_pwritev,
                                SYS_preadv2, SYS_pwritev2, SYS_vmsplice};
constexpr std::array kMessageCalls{SYS_sendmsg, SYS_recvmsg};
constexpr std::array kHidingCalls{SYS_ioctl,          SYS_sendmmsg,         SYS_recvmmsg,         SYS_io_submit,
                                  SYS_io_uring_enter, SYS_process_vm_readv, SYS_process_vm_writev};

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#else
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#endif

template <class T> bool read(pid_t process, uint64_t address, std::span<T> to) {
  return readMemory(process, address, std::as_writable_bytes(to)) == to.size_bytes();
}

void appendList(pid_t process, uint64_t address, uint64_t count, std::vector<Buffer> &buffers) {
  std::vector<iovec> list(std::min<uint64_t>(count, kMostBuffers));
  if (list.empty() || !read(process, address, std::span(list)))
    return;
  for (const iovec &entry : list)
    buffers.push_back({reinterpret_cast<uint64_t>(entry.iov_base), entry.iov_len});
}

void load(std::vector<sock_filter> &filter, size_t offset) {
  filter.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset)));
}

void answerIf(std::vector<sock_filter> &filter, uint64_t value, uint32_t answer) {
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(value), 0, 1));
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, answer));
}

// Returns the beginning of a filter, which loads the number of the call.
std::vector<sock_filter> filterBegin() {
  std::vector<sock_filter> filter;
  load(filter, offsetof(seccomp_data, arch));
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0));
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  load(filter, offsetof(seccomp_data, nr));
  return filter;
}

} // namespace

std::vector<Buffer> buffersOf(pid_t process, const SystemCall &call) {
  if (holds(kMappingCalls, call.number))
    return {};
  std::vector<Buffer> buffers;
  const auto &arguments = call.arguments;
  for (size_t i = 0; i < arguments.size(); ++i)
    buffers.push_back({arguments[i], i + 1 < arguments.size() ? arguments[i + 1] : 0});
  if (holds(kListCalls, call.number))
    appendList(process, arguments[1], arguments[2], buffers);
  msghdr message;
  if (holds(kMessageCalls, call.number) && read(process, arguments[1], std::span(&message, 1))) {
    appendList(process, reinterpret_cast<uint64_t>(message.msg_iov), message.msg_iovlen, buffers);
    buffers.push_back({reinterpret_cast<uint64_t>(message.msg_control), message.msg_controllen});
    buffers.push_back({reinterpret_cast<uint64_t>(message.msg_name), message.msg_namelen});
  }
  return buffers;
}

bool mayHideBuffers(const SystemCall &call) { return holds(kHidingCalls, call.number); }

bool changesMappings(const SystemCall &call) { return holds(kChangingCalls, call.number); }

std::vector<sock_filter> filterOf(std::initializer_list<long> calls) {
  std::vector<sock_filter> filter = filterBegin();
  for (const long call : calls)
    answerIf(filter, static_cast<uint64_t>(call), SECCOMP_RET_TRACE);
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  return filter;
}

std::vector<sock_filter> filterOfGuardedCalls() {
  constexpr unsigned kShift = 40, kWordBits = 32;
  static_assert(abi::kGuardedBytes == uint64_t{1} << kShift && abi::kGuardedBegin % abi::kGuardedBytes == 0);
  std::vector<sock_filter> filter = filterBegin();
  answerIf(filter, abi::kGuardCall, SECCOMP_RET_TRACE);
  for (const int call : kMappingCalls)
    answerIf(filter, static_cast<uint64_t>(call), SECCOMP_RET_ALLOW);
  for (const int call : kListCalls)
    answerIf(filter, static_cast<uint64_t>(call), SECCOMP_RET_TRACE);
  for (const int call : kMessageCalls)
    answerIf(filter, static_cast<uint64_t>(call), SECCOMP_RET_TRACE);
  for (const int call : kHidingCalls)
    answerIf(filter, static_cast<uint64_t>(call), SECCOMP_RET_TRACE);
  for (size_t argument = 0; argument < SystemCall{}.arguments.size(); ++argument) {
    load(filter, offsetof(seccomp_data, args) + argument * sizeof(uint64_t) + sizeof(uint32_t)); // the upper half
    filter.push_back(BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, kShift - kWordBits));
    answerIf(filter, abi::kGuardedBegin >> kShift, SECCOMP_RET_TRACE);
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  return filter;
}

} // namespace msleaks::analysis::inline second_run
