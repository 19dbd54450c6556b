// Numbers as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace msleaks::analysis {

std::string bytesText(uint64_t bytes);                  // "512 B", "1.50 KiB", "12.3 MiB", "1.25 GiB"
std::string durationText(uint64_t time_ns);             // "350 ns", "12.3 ms", "4.20 s", "3 min 5 s"
std::string countText(uint64_t count);                  // "1,234,567"
std::string shortCountText(uint64_t count);             // the same up to six digits, then "1.23M", "4.5G"
std::string percentText(uint64_t part, uint64_t whole); // "33%", "<1%"; nothing of nothing

} // namespace msleaks::analysis
