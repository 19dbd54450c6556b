// Random distances for sampling. No function of libm is called, since the runtime does not link it.
#pragma once

#include <cstdint>

namespace msleaks::runtime::python {

// Returns the natural logarithm of a positive number that is not denormal. The error is below 1e-6.
constexpr double logarithmOf(double number) noexcept {
  constexpr double kLog2 = 0.693147180559945309;
  const auto bits = __builtin_bit_cast(uint64_t, number);
  const auto exponent = static_cast<double>(static_cast<int64_t>(bits >> 52 & 0x7ff) - 1023);
  const double part = __builtin_bit_cast(double, (bits & 0x000f'ffff'ffff'ffff) | 0x3ff0'0000'0000'0000); // in [1, 2)
  const double z = (part - 1) / (part + 1), square = z * z;
  return exponent * kLog2 +
         2 * z * (1 + square * (1.0 / 3 + square * (1.0 / 5 + square * (1.0 / 7 + square * (1.0 / 9 + square / 11)))));
}

// Random numbers of one thread. Each seed gives another sequence, always the same.
class Random {
public:
  constexpr void seed(uint64_t number) noexcept {
    state_ = mixed(number * 0x9e37'79b9'7f4a'7c15 + 0x9e37'79b9'7f4a'7c15) | 1;
  }
  // Returns an exponentially distributed number with this mean, rounded down.
  constexpr int64_t distance(double mean) noexcept {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    const double uniform = (static_cast<double>(mixed(state_) >> 11) + 0.5) * 0x1p-53; // in (0, 1)
    return static_cast<int64_t>(-logarithmOf(uniform) * mean);
  }

private:
  static constexpr uint64_t mixed(uint64_t word) noexcept {
    word = (word ^ word >> 30) * 0xbf58'476d'1ce4'e5b9;
    word = (word ^ word >> 27) * 0x94d0'49bb'1331'11eb;
    return word ^ word >> 31;
  }
  uint64_t state_ = 1;
};

} // namespace msleaks::runtime::python
