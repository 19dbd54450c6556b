// Reads values from the text of /proc/PID/status. Each line of this text is a name, a colon, a tab and a value.
#pragma once

#include <cstdint>
#include <string_view>

namespace msleaks::abi {

// Returns the value in the line that begins with `name`, without the newline. The result is empty if there is no such
// line. This function must not throw, since the runtime has no libstdc++.
constexpr std::string_view statusValue(std::string_view status, std::string_view name) {
  for (size_t begin = 0; begin < status.size();) {
    const size_t found = status.find('\n', begin);
    const size_t end = found < status.size() ? found : status.size();
    const std::string_view line(status.data() + begin, end - begin);
    if (line.starts_with(name) && line.size() > name.size() + 1 && line[name.size()] == ':')
      return {line.data() + name.size() + 2, line.size() - name.size() - 2};
    begin = end + 1;
  }
  return {};
}

constexpr uint32_t statusNumber(std::string_view status, std::string_view name) {
  uint32_t number = 0;
  for (const char digit : statusValue(status, name))
    if (digit >= '0' && digit <= '9')
      number = 10 * number + static_cast<uint32_t>(digit - '0');
  return number;
}

// Returns the number of seccomp filters of a process. Before Linux 5.9 the kernel does not report the number. In that
// case the result is 2 if there are filters, and 0 if there are none.
constexpr uint32_t seccompFilters(std::string_view status) {
  const uint32_t filters = statusNumber(status, "Seccomp_filters");
  return filters != 0 ? filters : statusNumber(status, "Seccomp");
}

} // namespace msleaks::abi
