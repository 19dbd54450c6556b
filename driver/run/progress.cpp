#include "run/progress.h"

#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <string_view>
#include <unistd.h>

namespace msleaks::driver {
namespace {

constexpr uint64_t kQuietNs = 1'000'000'000; // a short run shows no line at all

} // namespace

ProgressLine::ProgressLine() : terminal_(isatty(STDERR_FILENO) == 1), start_ns_(analysis::readMonotonicNs()) {
  const char *term = std::getenv("TERM");
  if (!term || std::string_view(term) == "dumb")
    terminal_ = false;
}

bool ProgressLine::visible() const { return terminal_ && tcgetpgrp(STDERR_FILENO) == getpgrp(); }

void ProgressLine::draw(const analysis::CollectorProgress &progress) {
  const uint64_t now = analysis::readMonotonicNs();
  if (now - start_ns_ < kQuietNs || !visible())
    return;
  const uint64_t since = now - (last_ns_ ? last_ns_ : start_ns_);
  if (since < kQuietNs / 5)
    return;
  const double rate = static_cast<double>(progress.stored - last_stored_) * 1e9 / static_cast<double>(since);
  last_ns_ = now;
  last_stored_ = progress.stored;
  const std::string line = fmt::format("\r\033[Kmsleaks: {} s, {} processes, {} events ({:.2f} M/s), {} dropped",
                                       (now - start_ns_) / 1'000'000'000, progress.processes, progress.stored, rate / 1e6,
                                       progress.dropped);
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
  drawn_ = true;
}

void ProgressLine::erase() {
  constexpr std::string_view kErase = "\r\033[K";
  if (drawn_ && visible())
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kErase.data(), kErase.size());
}

} // namespace msleaks::driver
