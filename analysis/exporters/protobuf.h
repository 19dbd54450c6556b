// Encodes messages in the wire format of Protocol Buffers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace msleaks::analysis::inline exporters {

class ProtobufMessage {
public:
  // A number that is 0 is left out, because 0 is what a reader assumes.
  void number(uint32_t field, uint64_t value) {
    if (value != 0)
      anyNumber(field, value);
  }
  // The same for a field whose presence has a meaning.
  void anyNumber(uint32_t field, uint64_t value) {
    varint(uint64_t{field} << 3 | kVarint);
    varint(value);
  }
  void text(uint32_t field, std::string_view value) {
    varint(uint64_t{field} << 3 | kLengthDelimited);
    varint(value.size());
    bytes_ += value;
  }
  void message(uint32_t field, const ProtobufMessage &value) { text(field, value.bytes_); }
  // A repeated field of numbers.
  void numbers(uint32_t field, std::span<const uint64_t> values) {
    ProtobufMessage packed;
    for (const uint64_t value : values)
      packed.varint(value);
    message(field, packed);
  }
  // Adds encoded fields.
  void append(std::string_view fields) { bytes_ += fields; }
  const std::string &bytes() const { return bytes_; }

private:
  static constexpr uint32_t kVarint = 0, kLengthDelimited = 2;

  // Seven bits a byte, the lowest first. All bytes but the last have the highest bit.
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

} // namespace msleaks::analysis::inline exporters
