#include "analysis/base/output_columns.h"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <sys/ioctl.h>
#include <unistd.h>

namespace msleaks::analysis {

size_t outputColumns(int descriptor) {
  constexpr size_t kUsual = 80;
  if (const char *text = std::getenv("COLUMNS")) {
    size_t columns = 0;
    const char *end = text + std::strlen(text);
    if (const auto [at, status] = std::from_chars(text, end, columns);
        status == std::errc() && at == end && columns > 0)
      return columns;
  }
  if (!isatty(descriptor))
    return SIZE_MAX;
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col != 0 ? size.ws_col : kUsual;
}

} // namespace msleaks::analysis
