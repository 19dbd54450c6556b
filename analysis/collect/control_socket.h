// How `msleaks ctl` talks to the collector of a session: one packet asks, one answers. The socket lies in the session's
// directory, for the user alone.
#pragma once

#include "analysis/base/files.h"
#include "analysis/base/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace msleaks::analysis::inline collect {

inline constexpr char kControlSocket[] = "ctl";

// The collector's answer: done, with the requested data; or the reason of a refusal (Usage, OwnFault = refused).
struct ControlAnswer {
  ExitStatus status = ExitStatus::Clean;
  std::string text;
};

struct ControlRequest {
  FileDescriptor connection;
  std::string text;
  void answer(const ControlAnswer &) const; // to somebody who may have gone meanwhile
};

class ControlSocket {
public:
  // Replaces what a dead collector left.
  static Result<ControlSocket> listen(const std::filesystem::path &session);

  // Readable when wait() has something to do.
  int fd() const { return epoll_.get(); }
  // What was asked since the last call. Waits at most `timeout_ns` for something to happen.
  std::vector<ControlRequest> wait(uint64_t timeout_ns);

private:
  struct Connection {
    FileDescriptor file;
    uint64_t until_ns; // who says nothing for so long is dropped
  };
  void watch(int fd) const;
  void accept();

  FileDescriptor socket_, epoll_;
  std::vector<Connection> connections_;
};

// Asks the collector of the session. An error: there is none (BadInput), or it is not ours to ask (OwnFault).
Result<ControlAnswer> askSession(const std::filesystem::path &session, const std::string &request);

} // namespace msleaks::analysis::inline collect
