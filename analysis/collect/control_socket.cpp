#include "analysis/collect/control_socket.h"

#include "analysis/base/machine.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace msleaks::analysis::inline collect {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxConnections = 32;
constexpr size_t kMaxRequestBytes = 4096, kMaxAnswerBytes = 65536;
constexpr uint64_t kPatienceNs = 1'000'000'000;
constexpr int kAnswerTimeoutMs = 60'000;

std::string reason() { return std::strerror(errno); }

// The name of a socket has at most 108 bytes, but a path may be longer. Through the descriptor of its directory, every
// path is short.
class Address {
public:
  explicit Address(const fs::path &session)
      : folder_(::open(session.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)),
        path_(fmt::format("/proc/self/fd/{}/{}", folder_.get(), kControlSocket)) {
    address_.sun_family = AF_UNIX;
    const std::string direct = (session / kControlSocket).string();
    if (direct.size() < sizeof address_.sun_path)
      path_ = direct;
    std::copy_n(path_.c_str(), std::min(path_.size() + 1, sizeof address_.sun_path - 1), address_.sun_path);
  }
  const sockaddr *get() const { return reinterpret_cast<const sockaddr *>(&address_); }
  socklen_t bytes() const { return sizeof address_; }
  const std::string &path() const { return path_; }

private:
  FileDescriptor folder_;
  std::string path_;
  sockaddr_un address_{};
};

FileDescriptor makeSocket(int flags) {
  return FileDescriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0));
}

bool isOurUser(const FileDescriptor &connection) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  return ::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && peer.uid == ::geteuid();
}

} // namespace

void ControlRequest::answer(const ControlAnswer &answer) const {
  const std::string packet = fmt::format("{} {}", static_cast<int>(answer.status), answer.text);
  [[maybe_unused]] const ssize_t sent =
      ::send(connection.get(), packet.data(), std::min(packet.size(), kMaxAnswerBytes), MSG_NOSIGNAL | MSG_DONTWAIT);
}

Result<ControlSocket> ControlSocket::listen(const fs::path &session) {
  const Address address(session);
  const auto cannot = [&](const char *step) {
    return fail(fmt::format("{}: cannot {}: {}", (session / kControlSocket).string(), step, reason()));
  };
  ControlSocket made;
  made.socket_ = makeSocket(SOCK_NONBLOCK);
  if (!made.socket_.valid())
    return cannot("make a socket");
  ::unlink(address.path().c_str());
  if (::bind(made.socket_.get(), address.get(), address.bytes()) != 0)
    return cannot("bind");
  if (::chmod(address.path().c_str(), 0600) != 0)
    return cannot("close it to others");
  if (::listen(made.socket_.get(), kMaxConnections) != 0)
    return cannot("listen");
  made.epoll_ = FileDescriptor(epoll_create1(EPOLL_CLOEXEC));
  made.watch(made.socket_.get());
  return made;
}

void ControlSocket::accept() {
  while (connections_.size() < size_t{kMaxConnections}) {
    FileDescriptor connection(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!connection.valid())
      return;
    if (!isOurUser(connection))
      ControlRequest{std::move(connection), {}}.answer({ExitStatus::OwnFault, "the session is another user's"});
    else
      watch(connections_.emplace_back(Connection{std::move(connection), readMonotonicNs() + kPatienceNs}).file.get());
  }
}

// Edge-triggered: a connection that sends nothing, or cannot be accepted yet, wakes the collector only once.
void ControlSocket::watch(int fd) const {
  epoll_event wish{};
  wish.events = EPOLLIN | EPOLLET;
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &wish); // after a failure, the next call of wait() still finds it
}

std::vector<ControlRequest> ControlSocket::wait(uint64_t timeout_ns) {
  pollfd ready{epoll_.get(), POLLIN, 0};
  const timespec timeout{static_cast<time_t>(timeout_ns / 1'000'000'000),
                         static_cast<long>(timeout_ns % 1'000'000'000)};
  epoll_event events[kMaxConnections];
  if (::ppoll(&ready, 1, &timeout, nullptr) > 0)
    epoll_wait(epoll_.get(), events, kMaxConnections, 0);
  accept(); // also without an event: earlier there may have been no room for a connection
  std::vector<ControlRequest> requests;
  const uint64_t now_ns = readMonotonicNs();
  std::erase_if(connections_, [&](Connection &connection) {
    char text[kMaxRequestBytes];
    const ssize_t got = ::recv(connection.file.get(), text, sizeof text, MSG_DONTWAIT);
    if (got > 0)
      requests.push_back({std::move(connection.file), std::string(text, static_cast<size_t>(got))});
    return got >= 0 || errno != EAGAIN || now_ns > connection.until_ns;
  });
  return requests;
}

Result<ControlAnswer> askSession(const fs::path &session, const std::string &request) {
  const Address address(session);
  const FileDescriptor connection = makeSocket(0);
  if (::connect(connection.get(), address.get(), address.bytes()) != 0) {
    if (errno == EACCES || errno == EPERM)
      return fail(fmt::format("{}: {}", session.string(), reason()), ExitStatus::OwnFault);
    return fail(fmt::format("{}: no collector answers there ({})", session.string(), reason()));
  }
  pollfd answered{connection.get(), POLLIN, 0};
  if (::send(connection.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0 && errno != EPIPE)
    return fail(fmt::format("{}: cannot ask its collector: {}", session.string(), reason()));
  if (::poll(&answered, 1, kAnswerTimeoutMs) == 0)
    return fail(fmt::format("{}: its collector does not answer", session.string()), ExitStatus::OwnFault);
  std::string packet(kMaxAnswerBytes, '\0');
  const ssize_t got = ::recv(connection.get(), packet.data(), packet.size(), 0);
  if (got < 2 || packet[0] < '0' || packet[0] > '9')
    return fail(fmt::format("{}: its collector ended before it answered", session.string()));
  return ControlAnswer{static_cast<ExitStatus>(packet[0] - '0'), packet.substr(2, static_cast<size_t>(got) - 2)};
}

} // namespace msleaks::analysis::inline collect
