#include "analysis/counts/escaped.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <optional>

namespace msleaks::analysis::profiles {
namespace {

constexpr size_t kMostShownBytes = 80;

uint8_t byteAt(std::string_view text, size_t at) { return static_cast<uint8_t>(text[at]); }

// Returns the length of the UTF-8 sequence at `at`, or 0 if no valid sequence begins there. Surrogates and overlong
// forms are not valid.
size_t sequenceAt(std::string_view text, size_t at) {
  const uint8_t first = byteAt(text, at);
  if (first < 0x80)
    return 1;
  const size_t length = first >= 0xc2 && first < 0xe0   ? 2
                        : (first & 0xf0) == 0xe0        ? 3
                        : first >= 0xf0 && first < 0xf5 ? 4
                                                        : 0;
  if (length == 0 || text.size() - at < length)
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byteAt(text, at + i) & 0xc0) != 0x80)
      return 0;
  const uint8_t second = byteAt(text, at + 1);
  const bool wrong = (first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) ||
                     (first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90);
  return wrong ? 0 : length;
}

int digitOf(char character) {
  return character >= '0' && character <= '9'   ? character - '0'
         : character >= 'a' && character <= 'f' ? character - 'a' + 10
                                                : -1;
}

} // namespace

bool isPlain(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = text[at] == '\n' ? 0 : sequenceAt(text, at);
    if (length == 0)
      return false;
    at += length;
  }
  return true;
}

std::string escaped(std::string_view text) {
  std::string line;
  for (size_t at = 0; at < text.size();) {
    const size_t length = sequenceAt(text, at);
    if (text[at] == '\\')
      line += "\\\\";
    else if (text[at] == '\n')
      line += "\\n";
    else if (length == 0)
      line += fmt::format("\\x{:02x}", byteAt(text, at));
    else
      line += text.substr(at, length);
    at += length == 0 ? 1 : length;
  }
  return line;
}

std::string unescaped(std::string_view line) {
  std::string text;
  for (size_t at = 0; at < line.size(); ++at) {
    const std::string_view rest = line.substr(at);
    if (rest.starts_with("\\\\")) {
      text += '\\';
      ++at;
    } else if (rest.starts_with("\\n")) {
      text += '\n';
      ++at;
    } else if (rest.starts_with("\\x") && rest.size() >= 4 && digitOf(rest[2]) >= 0 && digitOf(rest[3]) >= 0) {
      text += static_cast<char>(digitOf(rest[2]) << 4 | digitOf(rest[3]));
      at += 3;
    } else {
      text += line[at];
    }
  }
  return text;
}

std::string shown(std::string_view text) {
  std::string line;
  for (size_t at = 0; at < text.size();) {
    if (line.size() >= kMostShownBytes)
      return line + "…";
    const size_t length = sequenceAt(text, at);
    if (length == 0 || byteAt(text, at) < 0x20 || text[at] == 0x7f)
      line += fmt::format("\\x{:02x}", byteAt(text, at));
    else
      line += text.substr(at, length);
    at += length == 0 ? 1 : length;
  }
  return line;
}

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
      addCodePoint(text, static_cast<uint8_t>(line[i])); // The byte is Latin-1.
    }
  }
  return text;
}

} // namespace msleaks::analysis::profiles
