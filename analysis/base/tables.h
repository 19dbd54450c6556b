// Strings of a table that an object brings (abi/site_table.h, abi/graph_table.h): NUL-terminated, named by offsets.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace msleaks::analysis::inline base {

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

// A row of a table in bytes that are aligned to nothing.
// The caller has checked that it lies in there.
template <class Row> Row copyRow(std::span<const std::byte> bytes, uint64_t offset) {
  Row row;
  std::memcpy(&row, bytes.data() + offset, sizeof row);
  return row;
}

// Vectors that are kept by a dense number and grow with it.
// The element at `index`; the list grows to it, and by half, when it is not there yet. References into the list end
// then.
template <class T> T &elementAt(std::vector<T> &list, size_t index) {
  if (index >= list.size())
    list.resize(index + 1 + index / 2);
  return list[index];
}

// The same without growing: what is behind the end has the value of a new element.
template <class T> T valueAt(const std::vector<T> &list, size_t index) {
  return index < list.size() ? list[index] : T{};
}

} // namespace msleaks::analysis::inline base
