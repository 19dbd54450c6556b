// Builds text for paths and notes, without an allocation.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace msleaks::runtime {

// A text of at most Capacity - 1 bytes. If more bytes are appended, they are dropped, and fits() is false.
template <unsigned Capacity> class Text {
public:
  Text &operator<<(std::string_view text) noexcept {
    for (const char c : text)
      append(c);
    return *this;
  }
  Text &operator<<(uint64_t number) noexcept { return append(number, 10); }
  Text &hex(uint64_t number) noexcept { return append(number, 16); }
  void clear() noexcept { size_ = 0, fits_ = true, text_[0] = 0; }
  bool fits() const noexcept { return fits_; }
  unsigned size() const noexcept { return size_; }
  const char *c_str() const noexcept { return text_; }

private:
  void append(char c) noexcept {
    if (size_ + 1 >= Capacity) {
      fits_ = false;
      return;
    }
    text_[size_++] = c;
    text_[size_] = 0;
  }
  Text &append(uint64_t number, unsigned base) noexcept {
    char digits[20];
    unsigned count = 0;
    do {
      digits[count++] = "0123456789abcdef"[number % base];
      number /= base;
    } while (number != 0);
    while (count > 0)
      append(digits[--count]);
    return *this;
  }

  char text_[Capacity] = {};
  unsigned size_ = 0;
  bool fits_ = true;
};

} // namespace msleaks::runtime
