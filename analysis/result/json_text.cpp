#include "analysis/result/json_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>

namespace msleaks::analysis::inline result {
namespace {

constexpr size_t kBufferedBytes = 64 << 10;

bool isPlain(char character) {
  const auto byte = static_cast<unsigned char>(character);
  return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

} // namespace

void JsonText::null() {
  item();
  buffer_ += "null";
}

void JsonText::boolean(bool value) {
  item();
  buffer_ += value ? "true" : "false";
}

void JsonText::number(uint64_t value) {
  item();
  fmt::format_to(std::back_inserter(buffer_), "{}", value);
}

void JsonText::number(int64_t value) {
  item();
  fmt::format_to(std::back_inserter(buffer_), "{}", value);
}

void JsonText::number(double value) {
  item();
  buffer_ += nlohmann::json(value).dump();
}

void JsonText::text(std::string_view value) {
  item();
  quoted(value);
}

void JsonText::key(std::string_view name) {
  item();
  quoted(name);
  buffer_ += ": ";
  is_after_key_ = true;
}

void JsonText::flush() {
  to_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  buffer_.clear();
}

void JsonText::begin(char bracket) {
  item();
  buffer_ += bracket;
  ++depth_;
  is_empty_ = true;
}

void JsonText::end(char bracket) {
  --depth_;
  if (!is_empty_)
    newLine();
  buffer_ += bracket;
  is_empty_ = false;
}

// Writes what stands between two values.
void JsonText::item() {
  if (buffer_.size() > kBufferedBytes)
    flush();
  if (is_after_key_ || depth_ == 0) {
    is_after_key_ = false;
    return;
  }
  if (!is_empty_)
    buffer_ += ',';
  is_empty_ = false;
  newLine();
}

void JsonText::newLine() {
  buffer_ += '\n';
  buffer_.append(2 * depth_, ' ');
}

void JsonText::quoted(std::string_view value) {
  if (std::all_of(value.begin(), value.end(), isPlain)) {
    buffer_ += '"';
    buffer_ += value;
    buffer_ += '"';
  } else {
    buffer_ += nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
}

} // namespace msleaks::analysis::inline result
