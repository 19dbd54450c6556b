// Imitates a driver's objects that use no memory of the device, such as streams, events and graphs. Each object is a
// separate heap block. Only an object that was created can be destroyed.
#pragma once

#include <map>
#include <mutex>
#include <new>

namespace standin {

class Objects {
public:
  explicit Objects(const char *what) : what_(what) {}
  // Makes an object and returns 0, or returns an error.
  int make(void **where) {
    if (where == nullptr)
      return kInvalid;
    const std::lock_guard lock(mutex_);
    *where = ::operator new(64);
    made_[*where] = what_;
    return 0;
  }
  int destroy(void *object) {
    const std::lock_guard lock(mutex_);
    if (made_.erase(object) == 0)
      return kInvalid;
    ::operator delete(object);
    return 0;
  }
  bool holds(void *object) {
    const std::lock_guard lock(mutex_);
    return made_.contains(object);
  }

private:
  static constexpr int kInvalid = 400;
  const char *what_;
  std::mutex mutex_;
  std::map<void *, const char *> made_;
};

} // namespace standin
