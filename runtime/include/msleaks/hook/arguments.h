// Reads the parameters of a hooked call. The function's row contains the positions of the parameters.
#pragma once

#include "msleaks/abi/symbol.h"

#include <cstdint>
#include <tuple>
#include <type_traits>

namespace msleaks {
namespace [[gnu::visibility("hidden")]] hook {

// The number of an absent position.
inline constexpr int kAbsent = INT8_MIN;
// Returns a position in a row as a number, which can be a template argument.
constexpr int indexOf(abi::Position position) { return position.present() ? position.index() : kAbsent; }

// The parameters of one call. A position in the call's row selects a parameter.
template <class... Parameters> class Arguments {
public:
  explicit Arguments(Parameters... values) : values_(values...) {}

  template <int kIndex> auto get() const {
    if constexpr (kIndex == kAbsent) {
      return nullptr;
    } else {
      constexpr int kAt = abi::Position(kIndex).resolve(sizeof...(Parameters));
      static_assert(kAt >= 0, "the row names a parameter that this function does not have");
      return std::get<static_cast<unsigned>(kAt)>(values_);
    }
  }
  template <int kIndex> uint64_t word() const { return toWord(get<kIndex>()); }
  template <int kIndex> const void *pointer() const { return reinterpret_cast<const void *>(word<kIndex>()); }
  template <int kSize, int kCount> uint64_t bytes() const {
    uint64_t product = word<kSize>(); // NOLINT(misc-const-correctness): changed if there is a count
    if constexpr (kCount != kAbsent)
      if (__builtin_mul_overflow(product, word<kCount>(), &product))
        return UINT64_MAX; // the product overflows, so the real function refuses this size
    return product;
  }

private:
  template <class Value> static uint64_t toWord(Value value) {
    if constexpr (std::is_null_pointer_v<Value>)
      return 0;
    else if constexpr (std::is_pointer_v<Value>)
      return reinterpret_cast<uint64_t>(value);
    else
      return static_cast<uint64_t>(value);
  }
  std::tuple<Parameters...> values_;
};

} // namespace hook
} // namespace msleaks
