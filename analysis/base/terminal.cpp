#include "analysis/base/terminal.h"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

namespace msleaks::analysis::inline base {

size_t outputColumns(int descriptor) {
  constexpr size_t kUsual = 80;
  if (const char *text = std::getenv("COLUMNS")) {
    size_t columns = 0;
    const char *end = text + std::strlen(text);
    if (const auto [at, status] = std::from_chars(text, end, columns);
        status == std::errc() && at == end && columns > 0)
      return columns;
  }
  if (!isatty(descriptor))
    return SIZE_MAX;
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col != 0 ? size.ws_col : kUsual;
}

namespace {

constexpr auto kQuiet = std::chrono::seconds(1); // if the work takes less, no line appears
constexpr auto kInterval = std::chrono::milliseconds(200);
constexpr size_t kUsualColumns = 80;

bool canErase() {
  const char *term = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && term && std::string_view(term) != "dumb";
}

// Leaves one column free: after a character in the last column, some terminals go to the next line.
size_t room() {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return (known ? size.ws_col : kUsualColumns) - 1;
}

void writeToTerminal(const std::string &text) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

} // namespace

ProgressLine::ProgressLine(bool wanted) : terminal_(wanted && canErase()), next_(Clock::now() + kQuiet) {}

// A background job must not write over the output of the foreground job.
bool ProgressLine::visible() const { return terminal_ && tcgetpgrp(STDERR_FILENO) == getpgrp(); }

bool ProgressLine::due() {
  if (!terminal_)
    return false;
  const auto now = Clock::now();
  if (now < next_ || !visible())
    return false;
  next_ = now + kInterval;
  return true;
}

void ProgressLine::draw(const std::string &text) {
  drawn_ = true;
  writeToTerminal("\r\033[K" + text.substr(0, room()) + "\r");
}

void ProgressLine::drawIfDue(const std::string &text) {
  if (due())
    draw(text);
}

void ProgressLine::erase() {
  if (drawn_ && visible())
    writeToTerminal("\033[K");
  drawn_ = false;
}

} // namespace msleaks::analysis::inline base
