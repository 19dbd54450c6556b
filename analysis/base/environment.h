// Finds variables in the environment of another process.
#pragma once

#include <string_view>

namespace msleaks::analysis::inline base {

// Returns the value of a variable. `environment`: the text of /proc/PID/environ, entries NAME=VALUE that end with NUL.
// Empty: there is no such variable, or it is empty.
inline std::string_view variableIn(std::string_view environment, std::string_view name) {
  for (size_t begin = 0; begin < environment.size();) {
    const std::string_view entry = environment.substr(begin, environment.find('\0', begin) - begin);
    if (entry.starts_with(name) && entry.substr(name.size()).starts_with('='))
      return entry.substr(name.size() + 1);
    begin += entry.size() + 1;
  }
  return {};
}

} // namespace msleaks::analysis::inline base
