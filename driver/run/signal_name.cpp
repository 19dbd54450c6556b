#include "run/signal_name.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstring>

namespace msleaks::driver {
namespace {

constexpr int kNever[] = {SIGKILL, SIGSTOP, SIGCHLD}; // two cannot be caught, the third tells us that the program ended

int numberOf(const std::string &digits) {
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size() ? number : 0;
}

int numberOfName(const std::string &name) {
  constexpr char kRealTime[] = "RTMIN+";
  if (name.rfind(kRealTime, 0) == 0)
    return SIGRTMIN + numberOf(name.substr(sizeof kRealTime - 1));
  for (int signal = 1; signal < SIGRTMIN; ++signal)
    if (const char *known = sigabbrev_np(signal); known && name == known)
      return signal;
  return numberOf(name);
}

} // namespace

int signalOf(std::string name) {
  if (name.rfind("SIG", 0) == 0)
    name.erase(0, 3);
  const int signal = numberOfName(name);
  const bool usable =
      signal > 0 && signal <= SIGRTMAX && std::find(std::begin(kNever), std::end(kNever), signal) == std::end(kNever);
  return usable ? signal : 0;
}

} // namespace msleaks::driver
