// Answers HTTP requests, one at a time. The server has only what `msleaks top` needs. A library would bring OpenSSL
// into the packages.
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

struct Endpoint {
  std::string address = "127.0.0.1"; // an IPv4 address
  uint16_t port = 0;                 // 0: the kernel chooses one
};

class HttpServer {
public:
  // Only requests for paths that begin with `root` are answered. Fails if the port is in use.
  static Result<HttpServer> listen(const Endpoint &, const std::string &root);
  // The root is "/SECRET/". Other users of this machine do not know the secret, so they do not get an answer.
  static Result<HttpServer> listenSecretly(uint16_t port);

  // The address of the root, for example "http://127.0.0.1:PORT/SECRET/".
  const std::string &url() const { return url_; }

  // Answers requests, until the process ends or the socket fails. `answer` gets the path behind the root. Calls `tick`
  // at least once in `tick_ms`, and returns when it returns false.
  Result<void> serve(
      const std::function<HttpAnswer(std::string_view path)> &answer, int tick_ms = -1,
      const std::function<bool()> &tick = [] { return true; }) const;

private:
  HttpServer(analysis::FileDescriptor socket, std::string root, std::string url)
      : socket_(std::move(socket)), root_(std::move(root)), url_(std::move(url)) {}
  HttpAnswer answerTo(std::string_view request, const std::function<HttpAnswer(std::string_view)> &answer) const;

  analysis::FileDescriptor socket_;
  std::string root_;
  std::string url_;
};

} // namespace msleaks::tools
