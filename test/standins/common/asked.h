// A driver's functions that hooks call may change errno. The functions of the stand-ins change errno with asked().
#pragma once

#include <cerrno>

namespace standin {

inline int asked(int status) {
  errno = EXDEV;
  return status;
}

} // namespace standin
