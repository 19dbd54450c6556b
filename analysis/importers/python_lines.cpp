#include "analysis/importers/python_lines.h"

namespace msleaks::analysis::inline importers {
namespace {

constexpr uint32_t kPython310 = 0x030a0000, kPython311 = 0x030b0000;

class LineTable {
public:
  explicit LineTable(std::string_view table) : rest_(table) {}
  bool isAtEnd() const { return rest_.empty(); }
  bool isDamaged() const { return damaged_; }
  uint8_t byte() {
    if (rest_.empty()) {
      damaged_ = true;
      return 0;
    }
    const auto byte = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return byte;
  }
  // Six bits a byte, the lowest first. All bytes but the last have the bit 64.
  uint64_t number() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 60; shift += 6) {
      const uint8_t next = byte();
      value |= uint64_t{next & 63u} << shift;
      if ((next & 64) == 0)
        break;
    }
    return value;
  }
  int64_t signedNumber() {
    const uint64_t value = number();
    return (value & 1) != 0 ? -static_cast<int64_t>(value >> 1) : static_cast<int64_t>(value >> 1);
  }

private:
  std::string_view rest_;
  bool damaged_ = false;
};

// An entry: bits 3 to 6 of the first byte are its kind, and the others its number of words. The columns follow.
std::optional<int64_t> lineSince311(std::string_view text, uint64_t instruction, int64_t line) {
  enum : uint8_t { FirstOneLine = 10, LastOneLine = 12, NoColumns = 13, Long = 14, NoLine = 15 };
  LineTable table(text);
  for (uint64_t word = 0; !table.isAtEnd() && !table.isDamaged();) {
    const uint8_t first = table.byte(), kind = first >> 3 & 15;
    word += (first & 7) + 1;
    if (kind == Long || kind == NoColumns)
      line += table.signedNumber();
    else if (kind >= FirstOneLine && kind <= LastOneLine)
      line += kind - FirstOneLine;
    const unsigned numbers = kind == Long ? 3 : 0;
    const unsigned bytes = kind >= FirstOneLine && kind <= LastOneLine ? 2 : kind < FirstOneLine ? 1 : 0;
    for (unsigned i = 0; i < numbers; ++i)
      table.number();
    for (unsigned i = 0; i < bytes; ++i)
      table.byte();
    if (word > instruction / 2)
      return kind == NoLine || table.isDamaged() ? std::nullopt : std::optional(line);
  }
  return std::nullopt;
}

// Pairs: the bytes of a range, and the change of the line before it. -128: it has no line.
std::optional<int64_t> lineOf310(std::string_view text, uint64_t instruction, int64_t line) {
  LineTable table(text);
  for (uint64_t end = 0; !table.isAtEnd();) {
    end += table.byte();
    const auto change = static_cast<int8_t>(table.byte());
    line += change == -128 ? 0 : change;
    if (end > instruction * 2)
      return change == -128 ? std::nullopt : std::optional(line);
  }
  return std::nullopt;
}

// Pairs: the bytes of a range, and the change of the line after it.
std::optional<int64_t> lineBefore310(std::string_view text, uint64_t instruction, int64_t line) {
  LineTable table(text);
  for (uint64_t end = 0; !table.isAtEnd();) {
    end += table.byte();
    if (end > instruction)
      break;
    line += static_cast<int8_t>(table.byte());
  }
  return line;
}

} // namespace

std::optional<uint32_t> lineOfInstruction(uint32_t python, std::string_view table, uint64_t instruction,
                                          int64_t first_line) {
  const auto line = python >= kPython311   ? lineSince311(table, instruction, first_line)
                    : python >= kPython310 ? lineOf310(table, instruction, first_line)
                                           : lineBefore310(table, instruction, first_line);
  return line && *line > 0 && *line <= INT32_MAX ? std::optional(static_cast<uint32_t>(*line)) : std::nullopt;
}

} // namespace msleaks::analysis::inline importers
