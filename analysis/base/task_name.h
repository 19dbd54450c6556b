// The name of a thread, as kernel evidence tells it (docs/kernel.md).
#pragma once

#include "msleaks/abi/events.h"

#include <cstring>
#include <string>

namespace msleaks::analysis::inline base {

inline std::string nameOfTask(const abi::TaskEvent &task) {
  char name[17] = {};
  std::memcpy(name, &task.name_begin, 8);
  std::memcpy(name + 8, &task.name_end, 8);
  return name;
}

} // namespace msleaks::analysis::inline base
