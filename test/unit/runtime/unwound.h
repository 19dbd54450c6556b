// Finds the calls on the stack with the compiler's own unwinder. Tests compare msleaks' walks with these calls.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unwind.h>

namespace msleaks::test {

// The addresses of calls, innermost first. The array has a fixed size, since signal handlers also use it.
struct Calls {
  static constexpr size_t kMost = 1100;
  uint64_t addresses[kMost];
  size_t count = 0;

  void add(uint64_t address) {
    if (count < kMost)
      addresses[count++] = address;
  }
  std::span<const uint64_t> all() const { return {addresses, count}; }
};

template <class Left, class Right> bool sameCalls(const Left &left, const Right &right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end());
}

inline _Unwind_Reason_Code addFrame(_Unwind_Context *context, void *calls) {
  int before = 0;
  if (const uint64_t address = _Unwind_GetIPInfo(context, &before); address != 0)
    static_cast<Calls *>(calls)->add(address);
  return _URC_NO_REASON;
}

// Returns the calls, innermost first, from the caller of the function into which unwound() is inlined.
[[gnu::always_inline]] inline std::span<const uint64_t> unwound(Calls &calls) {
  calls.count = 0;
  _Unwind_Backtrace(addFrame, &calls);
  return calls.all().subspan(1);
}

} // namespace msleaks::test
