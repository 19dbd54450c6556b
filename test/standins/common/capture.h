// Imitates the capture of a stream: its work is stored, and runs when the graph is launched. During a capture, a call
// that waits, or that cannot be captured, is refused and ends the capture.
#pragma once

#include "machine.h"

namespace standin {

using Work = std::vector<std::function<void()>>;

class Captures {
public:
  static constexpr int kInvalid = 1, kUnsupported = 900, kInvalidated = 901, kImplicit = 906;
  enum State { kNone, kActive, kEnded }; // the numbers that the drivers use
  enum Mode { kGlobal, kOfThread, kRelaxed };

  int begin(Stream &stream) {
    const std::lock_guard lock(mutex_);
    if (!captures_.emplace(&stream, Capture{new Work}).second)
      return kInvalid;
    stream.keep(captures_[&stream].work);
    return 0;
  }
  // Ends the capture. If a refused call has ended it before, `work` is null and the result is an error.
  int end(Stream &stream, Work *&work) {
    const std::lock_guard lock(mutex_);
    const auto found = captures_.find(&stream);
    if (found == captures_.end())
      return kInvalid;
    const bool is_whole = found->second.state == kActive;
    stream.keep(nullptr);
    work = is_whole ? found->second.work : nullptr;
    if (!is_whole)
      delete found->second.work;
    captures_.erase(found);
    return is_whole ? 0 : kInvalidated;
  }
  State stateOf(const Stream &stream) {
    const std::lock_guard lock(mutex_);
    const auto found = captures_.find(&stream);
    return found != captures_.end() ? found->second.state : kNone;
  }
  Work *workOf(const Stream &stream) {
    const std::lock_guard lock(mutex_);
    const auto found = captures_.find(&stream);
    return found != captures_.end() ? found->second.work : nullptr;
  }
  // A block of a graph keeps its address, so a free does not release it.
  void keepBlock(const void *block) {
    const std::lock_guard lock(mutex_);
    blocks_.insert(block);
  }
  bool isKept(const void *block) {
    const std::lock_guard lock(mutex_);
    return blocks_.contains(block);
  }
  bool isAny() {
    const std::lock_guard lock(mutex_);
    return !captures_.empty();
  }
  // Returns the status of a call that no capture can contain. Ends all captures, unless the thread's mode is relaxed.
  int outside() { return modeOfThread() != kRelaxed ? endAll(kUnsupported) : 0; }
  // `inside` returns the status of a call that waits for this stream, `ofDefault` of a call that waits for all streams.
  int inside(const Stream &stream) { return stateOf(stream) != kNone ? endAll(kUnsupported) : outside(); }
  int ofDefault() { return endAll(kImplicit); }
  static int &modeOfThread() {
    static thread_local int mode = kGlobal;
    return mode;
  }

private:
  struct Capture {
    Work *work = nullptr;
    State state = kActive;
  };
  int endAll(int status) {
    const std::lock_guard lock(mutex_);
    for (auto &[stream, capture] : captures_)
      capture.state = kEnded;
    return captures_.empty() ? 0 : status;
  }
  std::mutex mutex_;
  std::map<const Stream *, Capture> captures_;
  std::set<const void *> blocks_;
};

// A driver and its runtime library share one object of this class.
inline Captures &captures() {
  static auto *const made = new Captures;
  return *made;
}

} // namespace standin
