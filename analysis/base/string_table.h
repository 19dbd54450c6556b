// Strings of a table that an object brings (abi/site_table.h, abi/graph_table.h): NUL-terminated, named by offsets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace msleaks::analysis {

// Views end at the next NUL, which is found by binary search: many rows that point into one long string must not cost
// its length each.
class StringTable {
public:
  explicit StringTable(std::span<const char> bytes) : bytes_(bytes) {
    for (size_t i = 0; i < bytes.size(); ++i)
      if (bytes[i] == 0)
        ends_.push_back(static_cast<uint32_t>(i));
  }
  // 0 is the empty string, also in a table without any.
  std::optional<std::string_view> at(uint32_t offset) const {
    if (offset == 0)
      return std::string_view();
    if (offset >= bytes_.size())
      return std::nullopt;
    const auto end = std::lower_bound(ends_.begin(), ends_.end(), offset);
    if (end == ends_.end())
      return std::nullopt;
    return std::string_view(bytes_.data() + offset, *end - offset);
  }

private:
  std::span<const char> bytes_;
  std::vector<uint32_t> ends_;
};

} // namespace msleaks::analysis
