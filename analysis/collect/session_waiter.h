// Waits between two rounds of the collector: for an arena that appears, a process that ends, a wake-up by another
// thread, or time.
#pragma once

#include "analysis/base/files.h"

#include <cstdint>
#include <filesystem>

namespace msleaks::analysis::inline collect {

// Without descriptors left for it, it only sleeps: the collector also looks by itself now and then.
class SessionWaiter {
public:
  explicit SessionWaiter(const std::filesystem::path &session);
  // Wakes once, when this process ends. The descriptor may be closed at any time.
  void watchEnd(int pidfd);
  // Wakes as long as there is something to read.
  void watchInput(int fd);
  // Wakes once, from any thread.
  void wake() noexcept;
  // Returns after so many ns, or as soon as something has happened since the last call; and says which.
  bool wait(uint64_t ns);

private:
  void watch(int fd, uint32_t events);

  FileDescriptor epoll_, arenas_, woken_;
};

} // namespace msleaks::analysis::inline collect
