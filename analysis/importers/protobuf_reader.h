// Reads the fields of a message in the wire format of Protocol Buffers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace msleaks::analysis::inline importers {

class ProtobufReader {
public:
  explicit ProtobufReader(std::string_view message) : rest_(message) {}

  // Goes to the next field. False: there is none, or the message is damaged.
  bool next() {
    if (rest_.empty() || damaged_)
      return false;
    const uint64_t key = varint();
    field_ = key >> 3;
    bytes_ = {};
    number_ = 0;
    switch (key & 7) {
    case 0:
      number_ = varint();
      break;
    case 1:
      take(8);
      break;
    case 2:
      bytes_ = take(varint());
      break;
    case 5:
      take(4);
      break;
    default:
      damaged_ = true;
    }
    return !damaged_;
  }
  uint64_t field() const { return field_; }
  uint64_t number() const { return number_; }
  std::string_view bytes() const { return bytes_; }
  bool isDamaged() const { return damaged_; }

  // Calls f for each number of a repeated field: one, or several that are packed.
  template <class F> void forEachNumber(F &&f) {
    if (bytes_.data() == nullptr)
      return f(number_);
    ProtobufReader packed(bytes_);
    while (!packed.rest_.empty() && !packed.damaged_) {
      const uint64_t number = packed.varint();
      if (!packed.damaged_)
        f(number);
    }
    damaged_ = damaged_ || packed.damaged_;
  }

private:
  uint64_t varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80)
        return value;
    }
    damaged_ = true;
    return 0;
  }
  std::string_view take(uint64_t size) {
    if (size > rest_.size()) {
      damaged_ = true;
      return {};
    }
    const std::string_view taken = rest_.substr(0, static_cast<size_t>(size));
    rest_.remove_prefix(static_cast<size_t>(size));
    return taken;
  }

  std::string_view rest_, bytes_;
  uint64_t field_ = 0, number_ = 0;
  bool damaged_ = false;
};

} // namespace msleaks::analysis::inline importers
