#include "analysis/profiles/python_text.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace msleaks::analysis::profiles {
namespace {

void addCodePoint(std::string &text, uint32_t point) {
  if (point < 0x80) {
    text += static_cast<char>(point);
  } else if (point < 0x800) {
    text += static_cast<char>(0xc0 | point >> 6);
    text += static_cast<char>(0x80 | (point & 0x3f));
  } else if (point < 0x10000) {
    text += static_cast<char>(0xe0 | point >> 12);
    text += static_cast<char>(0x80 | (point >> 6 & 0x3f));
    text += static_cast<char>(0x80 | (point & 0x3f));
  } else {
    text += static_cast<char>(0xf0 | (point >> 18 & 7));
    text += static_cast<char>(0x80 | (point >> 12 & 0x3f));
    text += static_cast<char>(0x80 | (point >> 6 & 0x3f));
    text += static_cast<char>(0x80 | (point & 0x3f));
  }
}

std::optional<uint32_t> hexAt(std::string_view text, size_t at, size_t digits) {
  uint32_t value = 0;
  if (text.size() < at + digits)
    return std::nullopt;
  const char *end = text.data() + at + digits;
  const auto parsed = std::from_chars(text.data() + at, end, value, 16);
  return parsed.ec == std::errc() && parsed.ptr == end ? std::optional(value) : std::nullopt;
}

} // namespace

std::string fromRepr(std::string_view line) {
  std::string text;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\' || i + 1 == line.size()) {
      text += line[i];
      continue;
    }
    const char what = line[++i];
    if (const auto byte = what == 'x' ? hexAt(line, i + 1, 2) : std::nullopt) {
      text += static_cast<char>(*byte);
      i += 2;
    } else {
      text += what == 'n' ? '\n' : what == 't' ? '\t' : what == 'r' ? '\r' : what;
    }
  }
  return text;
}

std::string fromRawUnicode(std::string_view line) {
  std::string text;
  for (size_t i = 0; i < line.size(); ++i) {
    const std::string_view rest = line.substr(i);
    const size_t digits = rest.starts_with("\\u") ? 4 : rest.starts_with("\\U") ? 8 : 0;
    if (const auto point = digits != 0 ? hexAt(line, i + 2, digits) : std::nullopt) {
      addCodePoint(text, *point);
      i += 1 + digits;
    } else {
      addCodePoint(text, static_cast<uint8_t>(line[i])); // Latin-1
    }
  }
  return text;
}

} // namespace msleaks::analysis::profiles
