// Imitates the functions of CUDA's driver that hooks call during a capture, for use with cudart_capture.cpp. A stream
// of the driver is also a stream of the runtime library.
#include "../common/capture.h"

#include <cerrno>
#include <cstring>
#include <string>

namespace {

using standin::captures;
constexpr size_t kTotal = 64 << 20;

struct Function {
  std::string name;
};

// Returns the status of a call that may change errno.
int said(int status) {
  errno = EXDEV;
  return status;
}

template <class Copy> void copyNow(Copy copy) {
  const standin::Access access;
  copy();
}

} // namespace

extern "C" {
int cuStreamIsCapturing(standin::Stream *stream, int *status) {
  *status = stream != nullptr ? captures().stateOf(*stream) : standin::Captures::kNone;
  return said(stream == nullptr && captures().isAny() ? standin::Captures::kImplicit : 0);
}
int cuStreamGetCaptureInfo_v2(standin::Stream *stream, int *status, unsigned long long *id, void **graph, const void **,
                              size_t *) {
  if (stream == nullptr && captures().isAny())
    return said(standin::Captures::kImplicit);
  *status = stream != nullptr ? captures().stateOf(*stream) : standin::Captures::kNone;
  *id = 1;
  *graph = stream != nullptr ? captures().workOf(*stream) : nullptr;
  return said(0);
}
int cuStreamSynchronize(standin::Stream *stream) {
  const int status = stream != nullptr ? captures().inside(*stream) : captures().ofDefault();
  if (status == 0 && stream != nullptr)
    stream->wait();
  return said(status);
}
int cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t bytes, standin::Stream *stream) {
  const auto copy = [=] { std::memcpy(to, reinterpret_cast<const void *>(from), bytes); };
  if (stream != nullptr)
    stream->run(copy);
  else
    copyNow(copy);
  return said(stream != nullptr ? 0 : captures().ofDefault());
}
int cuThreadExchangeStreamCaptureMode(int *mode) {
  std::swap(*mode, standin::Captures::modeOfThread());
  return said(0);
}
int cuMemGetInfo_v2(size_t *free, size_t *total) {
  *free = *total = kTotal;
  return said(captures().outside());
}
// This function crashes if a hook passes an address that is not a function.
int cuFuncGetName(const char **name, void *function) {
  *name = static_cast<Function *>(function)->name.c_str();
  return said(0);
}
}
