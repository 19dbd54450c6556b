// Answers requests of browsers on this machine, one at a time. The server has only what `msleaks top --web`
// needs. A library would bring OpenSSL into the packages, for a server that nobody else can reach.
#pragma once

#include "analysis/base/files.h"
#include "analysis/base/result.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace msleaks::tools {

struct HttpAnswer {
  int status = 200;
  std::string type = "text/plain"; // of the content
  std::string content;
};

class LoopbackServer {
public:
  // Listens at 127.0.0.1. The port 0 lets the kernel choose one. Fails if the port is in use.
  static Result<LoopbackServer> listen(uint16_t port);

  // The address of the server's root: "http://127.0.0.1:PORT/SECRET/". Other users of this machine do not know the
  // secret, so they do not get an answer.
  const std::string &url() const { return url_; }

  // Answers requests, until the process ends or the socket fails. `answer` gets the path behind the secret.
  Result<void> serve(const std::function<HttpAnswer(std::string_view path)> &answer) const;

private:
  LoopbackServer(analysis::FileDescriptor socket, std::string root, std::string url)
      : socket_(std::move(socket)), root_(std::move(root)), url_(std::move(url)) {}
  HttpAnswer answerTo(std::string_view request, const std::function<HttpAnswer(std::string_view)> &answer) const;

  analysis::FileDescriptor socket_;
  std::string root_; // "/SECRET/"
  std::string url_;
};

} // namespace msleaks::tools
