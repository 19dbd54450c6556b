// $STANDIN_FAIL is "function:nth:status", or several of these, separated by commas. The nth call of this function is
// refused with this status, and does nothing.
#pragma once

#include <cstdlib>
#include <cstring>
#include <mutex>

namespace standin {

// Uses no std::string. Otherwise libstdc++ would bind to this library's symbols, and the library could not be unloaded.
class Refusals {
public:
  Refusals() {
    const char *text = std::getenv("STANDIN_FAIL");
    while (text != nullptr && *text != 0 && count_ < kMost) {
      Asked &next = asked_[count_++];
      next.function = text;
      next.length = std::strcspn(text, ":");
      char *end = nullptr;
      next.calls_left = std::strtol(text + next.length + 1, &end, 10);
      next.status = static_cast<int>(std::strtol(end + 1, &end, 10));
      text = *end == ',' ? end + 1 : end;
    }
  }
  int of(const char *function) {
    const std::lock_guard lock(mutex_);
    int status = 0;
    for (unsigned i = 0; i < count_; ++i)
      if (asked_[i].isOf(function) && --asked_[i].calls_left == 0)
        status = asked_[i].status;
    return status;
  }

private:
  struct Asked {
    const char *function;
    size_t length;
    long calls_left;
    int status;
    bool isOf(const char *name) const {
      return std::strlen(name) == length && std::strncmp(name, function, length) == 0;
    }
  };
  static constexpr unsigned kMost = 64;
  Asked asked_[kMost] = {};
  unsigned count_ = 0;
  std::mutex mutex_;
};

// Returns the status of a refused call. Returns 0 if this call is not refused.
inline int refusal(const char *function) {
  static auto *const made = new Refusals;
  return made->of(function);
}

} // namespace standin

// This macro begins a function that $STANDIN_FAIL can refuse. `said` is a function that converts the status, or empty.
#define STANDIN_MAY_REFUSE(said)                                                                                       \
  if (const int refused = ::standin::refusal(__func__); refused != 0)                                                  \
  return said(refused)
