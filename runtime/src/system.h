// Provides files, memory, locks and signals to the runtime. The functions make raw system calls, so they run no hook,
// allocator or cancellation point. Under a seccomp filter they make no system call (kernel.h). In that case files do
// not open, no memory is mapped, signals are not blocked, and a wait for a lock is a bounded spin.
#pragma once

#include "kernel.h"
#include "own_memory.h"

#include "msleaks/runtime/clock.h"
#include "msleaks/runtime/errno_kept.h"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace msleaks::runtime {

// While an object of this class exists, no signal handler runs in this thread. So the thread can hold a lock or replace
// its ring. Under a seccomp filter signal handlers still run, but cannot acquire a lock that is held.
class SignalsBlocked {
public:
  SignalsBlocked() noexcept : is_blocked_(enterKernel()) {
    if (!is_blocked_)
      return;
    const uint64_t all = ~uint64_t{0};
    setMask(&all, &before_);
    ++__msl_thread.must_finish;
  }
  ~SignalsBlocked() {
    if (!is_blocked_)
      return;
    --__msl_thread.must_finish;
    setMask(&before_, nullptr);
    leaveKernel();
  }
  SignalsBlocked(const SignalsBlocked &) = delete;
  SignalsBlocked &operator=(const SignalsBlocked &) = delete;

private:
  static void setMask(const uint64_t *mask, uint64_t *before) noexcept {
    rawCall(SYS_rt_sigprocmask, SIG_SETMASK, wordOfArgument(mask), wordOfArgument(before), sizeof *mask);
  }
  bool is_blocked_;
  uint64_t before_ = 0;
};

// Pauses for a moment in a loop that waits for another thread.
inline void pauseBriefly() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

// The largest number of times that a thread under a seccomp filter checks a condition. This takes milliseconds.
inline constexpr unsigned kSpinsInSandbox = 50'000;

// A write beyond `ulimit -f` fails and causes a SIGXFSZ, which would end the program when signals are unblocked. So the
// destructor removes the pending SIGXFSZ, unless one was pending before. Call with signals blocked.
class SizeSignalTaken {
public:
  SizeSignalTaken() noexcept : before_(isPending()) {}
  ~SizeSignalTaken() {
    const timespec at_once{};
    if (!before_ && isPending())
      callKernel(SYS_rt_sigtimedwait, &kSet, nullptr, &at_once, sizeof kSet);
  }
  SizeSignalTaken(const SizeSignalTaken &) = delete;
  SizeSignalTaken &operator=(const SizeSignalTaken &) = delete;

private:
  static constexpr uint64_t kSet = uint64_t{1} << (SIGXFSZ - 1);
  static bool isPending() noexcept {
    uint64_t pending = 0;
    callKernel(SYS_rt_sigpending, &pending, sizeof pending);
    return (pending & kSet) != 0;
  }
  bool before_;
};

// Holds a mutex. The mutex is one word, which is zero when free. So it may be in memory that a fork sets to zeros. Hold
// the mutex only with signals blocked. The object is false as a bool if the lock was not acquired. This happens after a
// wait of bounded time, or if a seccomp filter forbids a wait in the kernel.
class Locked {
public:
  explicit Locked(uint32_t &word) noexcept : word_(&word) {
    if (!takeFree() && !takeByWaiting())
      word_ = nullptr;
  }
  // Waits at most `most_ns` for the lock.
  Locked(uint32_t &word, uint64_t most_ns) noexcept : word_(&word) {
    if (!takeFree() && !takeUntil(most_ns))
      word_ = nullptr;
  }
  ~Locked() {
    if (word_ != nullptr && __atomic_exchange_n(word_, kFree, __ATOMIC_RELEASE) == kContended)
      callKernel(SYS_futex, word_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }
  Locked(const Locked &) = delete;
  Locked &operator=(const Locked &) = delete;
  explicit operator bool() const noexcept { return word_ != nullptr; }

private:
  static constexpr uint32_t kFree = 0, kTaken = 1, kContended = 2;

  bool takeFree() noexcept {
    uint32_t expected = kFree;
    return __atomic_compare_exchange_n(word_, &expected, kTaken, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
  }
  // Tries to acquire the lock. If another thread has the lock, marks it as contended and returns false. The other
  // thread then wakes a waiting thread when it releases the lock.
  bool takeContended() noexcept { return __atomic_exchange_n(word_, kContended, __ATOMIC_ACQUIRE) == kFree; }
  // Waits for the lock. Checks it every 10 ms, since a thread under a seccomp filter wakes no other thread.
  bool takeByWaiting() noexcept {
    const timespec look{0, 10'000'000};
    while (!takeContended()) {
      if (!mayCallKernel())
        return takeBySpinning();
      wait(&look);
    }
    return true;
  }
  bool takeBySpinning() noexcept {
    for (unsigned i = 0; i < kSpinsInSandbox; ++i, pauseBriefly())
      if (takeContended())
        return true;
    return false;
  }
  bool takeUntil(uint64_t most_ns) noexcept {
    if (!mayCallKernel())
      return takeBySpinning();
    const uint64_t until_ns = monotonicNs() + most_ns;
    while (!takeContended()) {
      const uint64_t now_ns = monotonicNs();
      if (now_ns >= until_ns)
        return false;
      const uint64_t rest_ns = until_ns - now_ns;
      const timespec rest{static_cast<time_t>(rest_ns / 1'000'000'000), static_cast<long>(rest_ns % 1'000'000'000)};
      wait(&rest);
    }
    return true;
  }
  void wait(const timespec *most) const noexcept {
    callKernel(SYS_futex, word_, FUTEX_WAIT_PRIVATE, kContended, most, nullptr, 0);
  }

  uint32_t *word_;
};

// A file that is open for a short time. The runtime keeps no descriptor open, since daemons close all descriptors.
class OpenFile {
public:
  OpenFile(const char *path, int flags, unsigned mode = 0) noexcept
      : fd_(static_cast<int>(callKernel(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC | O_NOCTTY, mode))) {}
  ~OpenFile() {
    if (fd_ >= 0)
      callKernel(SYS_close, fd_);
  }
  OpenFile(OpenFile &&other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  OpenFile &operator=(OpenFile &&) = delete;
  explicit operator bool() const noexcept { return fd_ >= 0; }
  int fd() const noexcept { return fd_; }

  // Reads `bytes` bytes, or fewer at the end of the file. Returns the number of bytes.
  uint64_t read(char *to, uint64_t bytes) const noexcept {
    uint64_t done = 0;
    while (done < bytes) {
      const long got = callKernel(SYS_read, fd_, to + done, bytes - done);
      if (got <= 0)
        break;
      done += static_cast<uint64_t>(got);
    }
    return done;
  }

private:
  int fd_;
};

// Creates a new file. fchmod sets the permissions, since the program's umask may have removed even the owner's
// permissions.
inline OpenFile createFile(const char *path, int access) noexcept {
  OpenFile file(path, access | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (file)
    callKernel(SYS_fchmod, file.fd(), 0600);
  return file;
}

inline void *mapMemory(uint64_t bytes, int protection, int flags, int fd = -1, uint64_t offset = 0) noexcept {
  const long at = callKernel(SYS_mmap, nullptr, bytes, protection, flags, fd, offset);
  return at == -1 ? nullptr : reinterpret_cast<void *>(at);
}

inline void *mapShared(const OpenFile &file, uint64_t offset, uint64_t bytes, int flags = 0) noexcept {
  return mapMemory(bytes, PROT_READ | PROT_WRITE, MAP_SHARED | flags, file.fd(), offset);
}

// Returns the id, or 0 if the system call failed, for example under a seccomp filter.
inline uint32_t numberOrNone(long id) noexcept { return id > 0 ? static_cast<uint32_t>(id) : 0; }
inline uint32_t processId() noexcept { return numberOrNone(callKernel(SYS_getpid)); }
inline uint32_t threadId() noexcept { return numberOrNone(callKernel(SYS_gettid)); }

} // namespace msleaks::runtime
