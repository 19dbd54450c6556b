// The socket by which `msleaks ctl` asks the collector of a session. A request is one packet, and so is an answer. The
// socket is in the session's directory. Only the user may use it.
#pragma once

#include "analysis/base/files.h"
#include "analysis/base/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace msleaks::analysis::inline collect {

inline constexpr char kControlSocket[] = "ctl";

// The collector's answer: success, with the requested data; or a refusal (Usage, or OwnFault), with the reason.
struct ControlAnswer {
  ExitStatus status = ExitStatus::Clean;
  std::string text;
};

struct ControlRequest {
  FileDescriptor connection;
  std::string text;
  void answer(const ControlAnswer &) const; // the other side may have closed the connection
};

class ControlSocket {
public:
  // Replaces the socket of a dead collector.
  static Result<ControlSocket> listen(const std::filesystem::path &session);

  // This descriptor is readable when wait() has something to do.
  int fd() const { return epoll_.get(); }
  // Returns the requests since the last call. Waits at most `timeout_ns` for something to happen.
  std::vector<ControlRequest> wait(uint64_t timeout_ns);

private:
  struct Connection {
    FileDescriptor file;
    uint64_t until_ns; // a connection that sends nothing until then is closed
  };
  void watch(int fd) const;
  void accept();

  FileDescriptor socket_, epoll_;
  std::vector<Connection> connections_;
};

// Asks the collector of the session. An error: there is no collector (BadInput), or the session is another user's
// (OwnFault).
Result<ControlAnswer> askSession(const std::filesystem::path &session, const std::string &request);

} // namespace msleaks::analysis::inline collect
