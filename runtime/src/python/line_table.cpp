#include "line_table.h"

namespace msleaks::runtime::python {
namespace {

class Bytes {
public:
  explicit Bytes(const LineTable &table) noexcept : at_(table.bytes), end_(table.bytes + table.size) {}
  bool hasMore() const noexcept { return at_ < end_; }
  uint8_t next() noexcept { return hasMore() ? *at_++ : 0; }

  // Reads a number in groups of six bits, the lowest group first.
  uint32_t number() noexcept {
    uint32_t value = 0;
    for (unsigned shift = 0; shift < 32; shift += 6) {
      const uint8_t byte = next();
      value |= static_cast<uint32_t>(byte & 63) << shift;
      if ((byte & 64) == 0)
        break;
    }
    return value;
  }

  int32_t signedNumber() noexcept {
    const uint32_t value = number();
    const auto half = static_cast<int32_t>(value >> 1);
    return (value & 1) != 0 ? -half : half;
  }

private:
  const uint8_t *at_, *end_;
};

// The line after this distance. In a damaged table, the sum may be too large for a line.
int32_t lineAfter(int32_t line, int32_t distance) noexcept {
  return static_cast<int32_t>(static_cast<uint32_t>(line) + static_cast<uint32_t>(distance));
}

// 3.9: pairs of bytes. The first byte is the distance of the next line's code, the second that line's distance.
int32_t lineIn39(const LineTable &table, uint64_t offset) noexcept {
  int32_t line = table.first_line;
  Bytes bytes(table);
  for (uint64_t begin = 0; bytes.hasMore();) {
    begin += bytes.next();
    if (begin > offset)
      break;
    line = lineAfter(line, static_cast<int8_t>(bytes.next()));
  }
  return line;
}

// 3.10: pairs of bytes. The first byte is the size of the code, the second its line's distance; -128 = no line.
int32_t lineIn310(const LineTable &table, uint64_t offset) noexcept {
  int32_t line = table.first_line;
  Bytes bytes(table);
  for (uint64_t end = 0; bytes.hasMore();) {
    end += bytes.next();
    const auto distance = static_cast<int8_t>(bytes.next());
    if (distance != -128)
      line = lineAfter(line, distance);
    if (end > offset)
      return distance == -128 ? kNoLine : line;
  }
  return kNoLine;
}

// From 3.11 on: entries of one byte or more. The first byte contains a kind and the size of the code. The kind says
// where the line's distance is.
int32_t lineIn311(const LineTable &table, uint64_t offset) noexcept {
  constexpr unsigned kOneLine = 10, kNoColumns = 13, kLong = 14, kNone = 15;
  int32_t line = table.first_line;
  Bytes bytes(table);
  for (uint64_t end = 0; bytes.hasMore();) {
    const uint8_t head = bytes.next();
    const unsigned kind = head >> 3 & 15;
    end += (uint64_t{head & 7u} + 1) * 2;
    if (kind == kLong || kind == kNoColumns)
      line = lineAfter(line, bytes.signedNumber());
    else if (kind >= kOneLine && kind < kNoColumns)
      line = lineAfter(line, static_cast<int32_t>(kind - kOneLine));
    if (kind == kLong)
      for (int i = 0; i < 3; ++i)
        bytes.number();
    else if (kind < kNoColumns)
      for (unsigned i = 0; i < (kind < kOneLine ? 1u : 2u); ++i)
        bytes.next();
    if (end > offset)
      return kind == kNone ? kNoLine : line;
  }
  return kNoLine;
}

} // namespace

int32_t lineAt(const LineTable &table, uint32_t minor, uint64_t offset) noexcept {
  const int32_t line = minor <= 9    ? lineIn39(table, offset)
                       : minor == 10 ? lineIn310(table, offset)
                                     : lineIn311(table, offset);
  return line >= 0 ? line : kNoLine;
}

} // namespace msleaks::runtime::python
