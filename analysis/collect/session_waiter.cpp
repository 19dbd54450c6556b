#include "analysis/collect/session_waiter.h"

#include "analysis/base/machine.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

namespace msleaks::analysis::inline collect {
namespace {

constexpr int kEventsAtOnce = 16;

} // namespace

SessionWaiter::SessionWaiter(const std::filesystem::path &session)
    : epoll_(epoll_create1(EPOLL_CLOEXEC)), arenas_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)),
      woken_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (woken_.valid())
    watch(woken_.get(), EPOLLIN);
  if (epoll_.valid() && arenas_.valid() && inotify_add_watch(arenas_.get(), session.c_str(), IN_CREATE) >= 0)
    watch(arenas_.get(), EPOLLIN);
}

void SessionWaiter::watch(int fd, uint32_t events) {
  epoll_event wish{};
  wish.events = events;
  wish.data.fd = fd;
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &wish); // after a failure, the collector's next look still finds it
}

// Wakes only once: the pidfd of an ended process stays readable, and may stay open for a while.
void SessionWaiter::watchEnd(int pidfd) { watch(pidfd, EPOLLIN | EPOLLONESHOT); }

void SessionWaiter::watchInput(int fd) { watch(fd, EPOLLIN); }

void SessionWaiter::watchChange(int fd) { watch(fd, EPOLLIN | EPOLLET); }

void SessionWaiter::wake() noexcept {
  [[maybe_unused]] const bool told = eventfd_write(woken_.get(), 1) == 0; // after a failure, the collector sees it when
                                                                          // its sleep is over
}

bool SessionWaiter::wait(uint64_t ns) {
  const timespec timeout{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  pollfd ready{epoll_.get(), POLLIN, 0}; // ppoll ignores a negative descriptor, and only sleeps
  if (ppoll(&ready, 1, &timeout, nullptr) <= 0)
    return false;
  epoll_event events[kEventsAtOnce];
  epoll_wait(epoll_.get(), events, kEventsAtOnce, 0); // the collector itself finds out what has happened
  eventfd_t times;
  eventfd_read(woken_.get(), &times);
  alignas(inotify_event) char names[4096];
  while (read(arenas_.get(), names, sizeof names) > 0)
    continue;
  return true;
}

} // namespace msleaks::analysis::inline collect
