// Restores the program's errno at the end of a scope.
#pragma once

#include <cerrno>

namespace msleaks::runtime {

class ErrnoKept {
public:
  ErrnoKept() noexcept : errno_(errno) {}
  ~ErrnoKept() { errno = errno_; }
  ErrnoKept(const ErrnoKept &) = delete;
  ErrnoKept &operator=(const ErrnoKept &) = delete;

private:
  int errno_;
};

} // namespace msleaks::runtime
