// What hooks ask a driver themselves: a call that need not leave errno as it is.
#pragma once

#include <cerrno>

namespace standin {

inline int asked(int status) {
  errno = EXDEV;
  return status;
}

} // namespace standin
