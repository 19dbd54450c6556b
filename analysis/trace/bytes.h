// Numbers of variable length, and strings. A byte has 7 bits of a number, lowest first; its top bit: more follow.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace msleaks::analysis::inline trace {

inline constexpr unsigned kMaxVarintBytes = 10;

// Maps numbers near 0 to small numbers, whatever their sign: 0, -1, 1, -2, … -> 0, 1, 2, 3, …
constexpr uint64_t zigzag(uint64_t difference) { return (difference << 1) ^ (0 - (difference >> 63)); }
constexpr uint64_t unzigzag(uint64_t coded) { return (coded >> 1) ^ (0 - (coded & 1)); }

// Writes the number and returns the position after it. The buffer must have room for kMaxVarintBytes.
inline uint8_t *putVarint(uint8_t *at, uint64_t value) {
  if (value < 0x80) {
    *at = static_cast<uint8_t>(value);
    return at + 1;
  }
  if (value < 1 << 28) {
    // Computes the length without a branch, which would be mispredicted half the time, since lengths vary.
    uint32_t coded = static_cast<uint32_t>((value & 0x7f) | (value & 0x3f80) << 1 | (value & 0x1f'c000) << 2 |
                                           (value & 0xfe0'0000) << 3);
    const unsigned length = (static_cast<unsigned>(std::bit_width(value)) + 6) / 7;
    coded |= 0x8080'8080u & ((1u << (8 * (length - 1))) - 1);
    std::memcpy(at, &coded, sizeof coded);
    return at + length;
  }
  while (value >= 0x80) {
    *at++ = static_cast<uint8_t>(value) | 0x80;
    value >>= 7;
  }
  *at++ = static_cast<uint8_t>(value);
  return at;
}

class ByteWriter {
public:
  void varint(uint64_t value) {
    const uint8_t *end = putVarint(room(kMaxVarintBytes), value);
    size_ = static_cast<size_t>(end - buffer_.data());
  }
  template <class T> void fixed(const T &value) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::memcpy(room(sizeof value), &value, sizeof value);
    size_ += sizeof value;
  }
  void bytes(std::span<const uint8_t> content) {
    if (content.empty())
      return;
    std::memcpy(room(content.size()), content.data(), content.size());
    size_ += content.size();
  }
  void text(std::string_view content) {
    varint(content.size());
    bytes({reinterpret_cast<const uint8_t *>(content.data()), content.size()});
  }

  void clear() { size_ = 0; }
  size_t size() const { return size_; }
  std::span<const uint8_t> written() const { return {buffer_.data(), size_}; }

private:
  uint8_t *room(size_t wanted) {
    if (buffer_.size() - size_ < wanted)
      buffer_.resize(buffer_.size() * 2 + wanted);
    return buffer_.data() + size_;
  }

  std::vector<uint8_t> buffer_;
  size_t size_ = 0;
};

// Reads what ByteWriter wrote. After the end, or in a number that is too long, returns 0, and failed() is then true.
class ByteReader {
public:
  ByteReader() = default;
  explicit ByteReader(std::span<const uint8_t> content) : at_(content.data()), end_(at_ + content.size()) {}

  uint64_t varint() {
    if (at_ != end_ && *at_ < 0x80)
      return *at_++;
    return longVarint();
  }
  template <class T> T fixed() {
    T value{};
    if (left() < sizeof value) {
      fail();
      return value;
    }
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::span<const uint8_t> bytes(uint64_t count) {
    if (left() < count) {
      fail();
      return {};
    }
    const std::span<const uint8_t> content{at_, static_cast<size_t>(count)};
    at_ += count;
    return content;
  }
  std::string text() {
    const std::span<const uint8_t> content = bytes(varint());
    return {reinterpret_cast<const char *>(content.data()), content.size()};
  }

  size_t left() const { return static_cast<size_t>(end_ - at_); }
  bool failed() const { return failed_; }
  // A caller may also call this: when the values that it has read make no sense.
  void fail() {
    failed_ = true;
    at_ = end_;
  }

private:
  uint64_t longVarint() {
    uint64_t value = 0;
    for (unsigned shift = 0; at_ != end_ && shift < 64; shift += 7) {
      const uint8_t byte = *at_++;
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80)
        return value;
    }
    fail();
    return 0;
  }

  const uint8_t *at_ = nullptr;
  const uint8_t *end_ = nullptr;
  bool failed_ = false;
};

} // namespace msleaks::analysis::inline trace
