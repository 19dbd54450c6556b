// Reads strings that tables in objects (abi/site_table.h, abi/graph_table.h) name by their offset. They end with NUL.
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

// Finds the end of a string by binary search. If many rows point into one long string, a search for the NUL byte by
// byte would take quadratic time.
class StringTable {
public:
  explicit StringTable(std::span<const char> bytes) : bytes_(bytes) {
    for (size_t i = 0; i < bytes.size(); ++i)
      if (bytes[i] == 0)
        ends_.push_back(static_cast<uint32_t>(i));
  }
  // Offset 0 is the empty string, even if the table has no bytes.
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

// Copies a row of a table, because its bytes may not be aligned.
// The caller has checked that the row lies in `bytes`.
template <class Row> Row copyRow(std::span<const std::byte> bytes, uint64_t offset) {
  Row row;
  std::memcpy(&row, bytes.data() + offset, sizeof row);
  return row;
}

// Vectors whose index is a dense number.
// Returns the element at `index`. If the vector is too short, makes it longer, by half more than needed. This call may
// invalidate references to elements.
template <class T> T &elementAt(std::vector<T> &list, size_t index) {
  if (index >= list.size())
    list.resize(index + 1 + index / 2);
  return list[index];
}

// The same without growing: an index after the end returns a new element's value.
template <class T> T valueAt(const std::vector<T> &list, size_t index) {
  return index < list.size() ? list[index] : T{};
}

} // namespace msleaks::analysis::inline base
