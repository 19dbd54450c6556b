// Writes the common form of the tables that the plugin adds to a module (abi/site_table.h, abi/graph_table.h). A table
// is a header, rows in the compiler's layout, strings, and zeros up to a multiple of 8. A table of graphs has more rows
// behind them.
#pragma once

#include "msleaks/abi/site_table.h"

#include "llvm/Config/llvm-config.h"

#include <bit>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace msleaks::passes {

inline constexpr char kProducer[] = "MemPass " MSL_VERSION " LLVM " LLVM_VERSION_STRING;
inline constexpr uint64_t kTableAlign = 8;
static_assert(std::endian::native == std::endian::little, "a table is written as the compiler lays out its structs");

template <typename T> void append(std::string &bytes, const T *values, size_t count) {
  bytes.append(reinterpret_cast<const char *>(values), count * sizeof(T));
}

// Stores each text once, terminated by NUL. Offset 0 is the empty text.
class TableStrings {
public:
  TableStrings() { intern(""); }

  abi::StringOffset intern(std::string_view text) {
    if (const auto known = offsets_.find(text); known != offsets_.end())
      return known->second;
    const auto offset = static_cast<abi::StringOffset>(bytes_.size());
    offsets_.emplace(text, offset);
    bytes_.append(text);
    bytes_.push_back('\0');
    return offset;
  }
  const std::string &bytes() const { return bytes_; }

private:
  std::string bytes_;
  std::map<std::string, abi::StringOffset, std::less<>> offsets_;
};

// Builds the table from the header, the rows, the strings, and more rows behind the strings. Sets the sizes and the
// checksum in the header.
template <typename Header>
std::string tableOf(Header header, std::string rows, const TableStrings &strings, std::string_view behind = {}) {
  std::string body = std::move(rows) + strings.bytes();
  body.resize((body.size() + kTableAlign - 1) / kTableAlign * kTableAlign, '\0');
  body += behind;
  header.header_bytes = sizeof header;
  header.total_bytes = static_cast<uint32_t>(sizeof header + body.size());
  header.strings_bytes = static_cast<uint32_t>(strings.bytes().size());
  header.checksum = abi::fnv1a32(reinterpret_cast<const unsigned char *>(body.data()), body.size());
  std::string bytes;
  append(bytes, &header, 1);
  return bytes + body;
}

} // namespace msleaks::passes
