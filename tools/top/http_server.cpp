#include "top/http_server.h"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace msleaks::tools {
namespace {

using analysis::FileDescriptor;

constexpr size_t kMostRequestBytes = 16 * 1024, kMostConnections = 32;
constexpr std::string_view kEndOfHead = "\r\n\r\n";

Result<std::string> makeSecret() {
  std::array<unsigned char, 16> bytes;
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return fail("no random numbers: " + std::generic_category().message(errno), ExitStatus::OwnFault);
  std::string text;
  for (const unsigned char byte : bytes)
    text += fmt::format("{:02x}", byte);
  return text;
}

// A browser that stops reading must not stop the server.
void limitWaiting(int connection) {
  const timeval patience{.tv_sec = 5, .tv_usec = 0};
  setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

// A connection, and what has arrived of the head of its request. Browsers also open connections that they do not use.
struct Connection {
  FileDescriptor socket;
  std::string head{};

  bool isComplete() const { return head.find(kEndOfHead) != std::string::npos; }
  // Reads what has arrived. Returns false if the connection has ended, or sends too much.
  bool read() {
    std::array<char, 4096> part;
    const ssize_t count = recv(socket.get(), part.data(), part.size(), 0);
    if (count <= 0 || head.size() > kMostRequestBytes)
      return false;
    head.append(part.data(), static_cast<size_t>(count));
    return true;
  }
};

void send(int connection, const HttpAnswer &answer) {
  std::string text =
      fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}; charset=utf-8\r\nContent-Length: {}\r\n"
                  "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n",
                  answer.status, answer.status == 200 ? "OK" : "Error", answer.type, answer.content.size());
  text += answer.content;
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t count = ::send(connection, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (count <= 0)
      return; // the browser has gone
    rest.remove_prefix(static_cast<size_t>(count));
  }
}

tl::unexpected<Error> cannot(const std::string &what) {
  return fail(fmt::format("{}: {}", what, std::generic_category().message(errno)), ExitStatus::OwnFault);
}

// Accepts a connection. If there are too many, gives up the oldest one.
Result<void> accept(int socket, std::vector<Connection> &open) {
  FileDescriptor connection(accept4(socket, nullptr, nullptr, SOCK_CLOEXEC));
  if (connection.get() < 0)
    return errno == EINTR || errno == ECONNABORTED ? Result<void>() : cannot("cannot answer a browser");
  limitWaiting(connection.get());
  if (open.size() == kMostConnections)
    open.erase(open.begin());
  open.push_back({std::move(connection)});
  return {};
}

} // namespace

Result<HttpServer> HttpServer::listenSecretly(uint16_t port) {
  return listen({.port = port}, "/" + MSL_TRY(makeSecret()) + "/");
}

Result<HttpServer> HttpServer::listen(const Endpoint &endpoint, const std::string &root) {
  FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (socket.get() < 0)
    return cannot("cannot make a socket");
  const int yes = 1;
  setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(endpoint.port);
  if (inet_pton(AF_INET, endpoint.address.c_str(), &address.sin_addr) != 1)
    return fail(fmt::format("'{}' is no IPv4 address", endpoint.address), ExitStatus::Usage);
  socklen_t size = sizeof address;
  auto *const any = reinterpret_cast<sockaddr *>(&address);
  if (bind(socket.get(), any, size) != 0 || ::listen(socket.get(), 16) != 0 ||
      getsockname(socket.get(), any, &size) != 0)
    return cannot(fmt::format("cannot listen at port {} of {}", endpoint.port, endpoint.address));
  std::string url = fmt::format("http://{}:{}{}", endpoint.address, ntohs(address.sin_port), root);
  return HttpServer(std::move(socket), root, std::move(url));
}

HttpAnswer HttpServer::answerTo(std::string_view request,
                                const std::function<HttpAnswer(std::string_view)> &answer) const {
  constexpr std::string_view kGet = "GET ";
  const size_t end = request.find(' ', kGet.size());
  if (!request.starts_with(kGet) || end == std::string_view::npos)
    return {.status = 405, .content = "only GET is answered\n"};
  const std::string_view path = request.substr(kGet.size(), end - kGet.size());
  if (!path.starts_with(root_))
    return {.status = 404, .content = "no such page\n"};
  return answer(path.substr(root_.size()));
}

Result<void> HttpServer::serve(const std::function<HttpAnswer(std::string_view)> &answer, int tick_ms,
                               const std::function<bool()> &tick) const {
  std::vector<Connection> open; // the oldest first
  while (tick()) {
    std::vector<pollfd> waiting{{socket_.get(), POLLIN, 0}};
    for (const Connection &connection : open)
      waiting.push_back({connection.socket.get(), POLLIN, 0});
    const int ready = poll(waiting.data(), waiting.size(), tick_ms);
    if (ready < 0 && errno != EINTR)
      return cannot("cannot wait for a browser");
    if (ready <= 0)
      continue;
    for (size_t i = open.size(); i-- > 0;) {
      if (waiting[i + 1].revents == 0 || (open[i].read() && !open[i].isComplete()))
        continue;
      if (open[i].isComplete())
        send(open[i].socket.get(), answerTo(open[i].head, answer));
      open.erase(open.begin() + static_cast<ptrdiff_t>(i));
    }
    if (waiting[0].revents != 0)
      MSL_TRY(accept(socket_.get(), open));
  }
  return {};
}

} // namespace msleaks::tools
