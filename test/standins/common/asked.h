// For calls that hooks make of a driver: such a call may change errno.
#pragma once

#include <cerrno>

namespace standin {

inline int asked(int status) {
  errno = EXDEV;
  return status;
}

} // namespace standin
