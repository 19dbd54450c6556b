// Reads values from the unwind tables, and never reads outside of the tables.
#pragma once

#include <cstdint>
#include <cstring>

namespace msleaks::runtime::unwind {

// The encodings of a pointer (DW_EH_PE_*).
enum Encoding : uint8_t {
  kAbsolute = 0x00,
  kUleb = 0x01,
  kUnsigned2 = 0x02,
  kUnsigned4 = 0x03,
  kUnsigned8 = 0x04,
  kSleb = 0x09,
  kSigned2 = 0x0a,
  kSigned4 = 0x0b,
  kSigned8 = 0x0c,
  kFormat = 0x0f,
  kToHere = 0x10, // relative to the pointer's own address
  kToHeader = 0x30,
  kRelation = 0x70,
  kIndirect = 0x80,
  kOmitted = 0xff,
};

// A position in the tables. After a read beyond the end, failed() is true, and the results of reads mean nothing.
class TableCursor {
public:
  constexpr TableCursor(uint64_t at, uint64_t end) noexcept : at_(at), end_(end) {}

  uint64_t at() const noexcept { return at_; }
  bool failed() const noexcept { return failed_; }
  bool more() const noexcept { return !failed_ && at_ < end_; }

  template <class T> T fixed() noexcept {
    T value{};
    if (const uint64_t from = at_; take(sizeof value))
      std::memcpy(&value, reinterpret_cast<const void *>(from), sizeof value);
    return value;
  }
  uint8_t byte() noexcept { return fixed<uint8_t>(); }
  void skip(uint64_t bytes) noexcept { take(bytes); }

  uint64_t uleb() noexcept {
    uint64_t value = 0;
    unsigned shift = 0;
    readLeb(value, shift);
    return value;
  }
  int64_t sleb() noexcept {
    uint64_t value = 0;
    unsigned shift = 0;
    if (readLeb(value, shift) && shift < 64)
      value |= ~uint64_t{0} << shift;
    return static_cast<int64_t>(value);
  }

  // Reads a pointer. Fails for encodings that compilers do not write into .eh_frame.
  uint64_t pointer(uint8_t encoding) noexcept {
    if (encoding == kOmitted)
      return 0;
    const uint64_t here = at_;
    const uint64_t value = number(encoding & kFormat);
    switch (encoding & kRelation) {
    case kAbsolute:
      return value;
    case kToHere:
      return here + value;
    default:
      failed_ = true;
      return 0;
    }
  }

private:
  bool take(uint64_t bytes) noexcept {
    failed_ = failed_ || bytes > end_ - at_;
    if (!failed_)
      at_ += bytes;
    return !failed_;
  }

  // Reads a LEB128 number, and sets `shift` to the number of its bits. Returns whether it would be negative as a signed
  // number.
  bool readLeb(uint64_t &value, unsigned &shift) noexcept {
    for (;;) {
      const uint8_t next = byte();
      if (shift < 64)
        value |= static_cast<uint64_t>(next & 0x7f) << shift;
      shift += 7;
      if ((next & 0x80) == 0)
        return (next & 0x40) != 0;
    }
  }

  uint64_t number(uint8_t format) noexcept {
    switch (format) {
    case kAbsolute:
    case kUnsigned8:
    case kSigned8:
      return fixed<uint64_t>();
    case kUleb:
      return uleb();
    case kSleb:
      return static_cast<uint64_t>(sleb());
    case kUnsigned2:
      return fixed<uint16_t>();
    case kSigned2:
      return static_cast<uint64_t>(int64_t{fixed<int16_t>()});
    case kUnsigned4:
      return fixed<uint32_t>();
    case kSigned4:
      return static_cast<uint64_t>(int64_t{fixed<int32_t>()});
    default:
      failed_ = true;
      return 0;
    }
  }

  uint64_t at_, end_;
  bool failed_ = false;
};

} // namespace msleaks::runtime::unwind
