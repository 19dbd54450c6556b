#include "run/signal_name.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstring>
#include <string_view>

namespace msleaks::driver {
namespace {

constexpr int kNever[] = {SIGKILL, SIGSTOP, SIGCHLD}; // the first two cannot be caught; SIGCHLD reports child exits

// Parses the number of a signal. Returns -1 if the text is no number from 0 to SIGRTMAX.
int numberOf(std::string_view digits) {
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool is_number = error == std::errc() && end == digits.data() + digits.size();
  return is_number && number >= 0 && number <= SIGRTMAX ? number : -1;
}

int numberOfName(const std::string &name) {
  constexpr std::string_view kRealTime = "RTMIN+";
  if (name.starts_with(kRealTime)) {
    const int behind = numberOf(std::string_view(name).substr(kRealTime.size()));
    return behind < 0 ? -1 : SIGRTMIN + behind;
  }
  for (int signal = 1; signal < SIGRTMIN; ++signal)
    if (const char *known = sigabbrev_np(signal); known && name == known)
      return signal;
  return -1;
}

} // namespace

int signalOf(const std::string &name) {
  int signal = numberOf(name);
  if (signal < 0)
    signal = numberOfName(name.starts_with("SIG") ? name.substr(3) : name);
  const bool usable =
      signal > 0 && signal <= SIGRTMAX && std::find(std::begin(kNever), std::end(kNever), signal) == std::end(kNever);
  return usable ? signal : 0;
}

} // namespace msleaks::driver
