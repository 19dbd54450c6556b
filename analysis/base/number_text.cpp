#include "analysis/base/number_text.h"

#include <cstddef>
#include <fmt/format.h>
#include <iterator>

namespace msleaks::analysis {

std::string percentText(uint64_t part, uint64_t whole) {
  if (whole == 0)
    return "";
  const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  return percent < 0.95 && part != 0 ? "<1%" : fmt::format("{:.0f}%", percent);
}

std::string bytesText(uint64_t bytes) {
  if (bytes < 1024)
    return fmt::format("{} B", bytes);
  static constexpr const char *kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  // 1023.95 would be shown as 1024.
  while (value >= 1023.95 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return value < 9.995 ? fmt::format("{:.2f} {}", value, kUnits[unit]) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string durationText(uint64_t time_ns) {
  const auto value = static_cast<double>(time_ns);
  if (time_ns < 1'000)
    return fmt::format("{} ns", time_ns);
  if (time_ns < 1'000'000)
    return fmt::format("{:.1f} us", value / 1e3);
  if (time_ns < 1'000'000'000)
    return fmt::format("{:.1f} ms", value / 1e6);
  if (time_ns < 120'000'000'000)
    return fmt::format("{:.2f} s", value / 1e9);
  const uint64_t seconds = time_ns / 1'000'000'000;
  return seconds < 7200 ? fmt::format("{} min {} s", seconds / 60, seconds % 60)
                        : fmt::format("{} h {} min", seconds / 3600, seconds / 60 % 60);
}

std::string countText(uint64_t count) {
  std::string digits = std::to_string(count);
  for (ptrdiff_t at = static_cast<ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<size_t>(at), 1, ',');
  return digits;
}

std::string shortCountText(uint64_t count) {
  if (count < 1'000'000)
    return countText(count);
  static constexpr const char *kUnits = "MGTPE";
  double value = static_cast<double>(count) / 1e6;
  const char *unit = kUnits;
  for (; value >= 999.5 && unit[1] != 0; ++unit)
    value /= 1000;
  return fmt::format("{:.3g}{}", value, *unit);
}

} // namespace msleaks::analysis
