// A real driver may change errno in functions that hooks call. In the stand-ins of CANN, such functions call asked().
#pragma once

#include <cerrno>

namespace standin {

inline int asked(int status) {
  errno = EXDEV;
  return status;
}

} // namespace standin
