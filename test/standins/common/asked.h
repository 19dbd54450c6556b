// A real driver may change errno in functions that hooks call. In a stand-in, these functions change it by asked().
#pragma once

#include <cerrno>

namespace standin {

inline int asked(int status) {
  errno = EXDEV;
  return status;
}

} // namespace standin
