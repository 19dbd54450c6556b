// Waits between two rounds of the collector: until an arena appears, a process ends, another thread wakes it, or the
// time is over.
#pragma once

#include "analysis/base/files.h"

#include <cstdint>
#include <filesystem>

namespace msleaks::analysis::inline collect {

// Without free descriptors it only sleeps. The collector also looks by itself from time to time.
class SessionWaiter {
public:
  explicit SessionWaiter(const std::filesystem::path &session);
  // Wakes once, when this process ends. The descriptor may be closed at any time.
  void watchEnd(int pidfd);
  // Wakes as long as there is something to read.
  void watchInput(int fd);
  // Wakes each time when the descriptor becomes readable, even if nobody reads it.
  void watchChange(int fd);
  // Wakes once, from any thread.
  void wake() noexcept;
  // Returns after `ns`, or as soon as something has happened since the last call. True: something has happened.
  bool wait(uint64_t ns);

private:
  void watch(int fd, uint32_t events);

  FileDescriptor epoll_, arenas_, woken_;
};

} // namespace msleaks::analysis::inline collect
