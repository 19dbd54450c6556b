// Hooks of roctx, by which programs on HIP report marks and ranges. The hooks also call the real functions.
#include "core/own_hook.h"

#include "msleaks/api.h"
#include "msleaks/runtime/ranges.h"

using namespace msleaks;

MSL_OWN_HOOK(libroctx64, void, roctxMarkA, (const char *text)) {
  msl_mark(text);
  if (auto *const real = reinterpret_cast<void (*)(const char *)>(hook::realOf(msl_hook_of_roctxMarkA, __builtin_return_address(0))))
    real(text);
}
MSL_OWN_HOOK(libroctx64, int, roctxRangePushA, (const char *text)) {
  msl_range_push(text);
  auto *const real = reinterpret_cast<int (*)(const char *)>(hook::realOf(msl_hook_of_roctxRangePushA, __builtin_return_address(0)));
  return real != nullptr ? real(text) : -1;
}
MSL_OWN_HOOK(libroctx64, int, roctxRangePop, ()) {
  msl_range_pop();
  auto *const real = reinterpret_cast<int (*)()>(hook::realOf(msl_hook_of_roctxRangePop, __builtin_return_address(0)));
  return real != nullptr ? real() : -1;
}
// The library chooses the number of a range. kForeignRange keeps it apart from msleaks' own numbers.
MSL_OWN_HOOK(libroctx64, uint64_t, roctxRangeStartA, (const char *text)) {
  auto *const real = reinterpret_cast<uint64_t (*)(const char *)>(hook::realOf(msl_hook_of_roctxRangeStartA, __builtin_return_address(0)));
  const uint64_t range = real != nullptr ? real(text) : 0;
  __msl_range_start_as(text, range | runtime::kForeignRange);
  return range;
}
MSL_OWN_HOOK(libroctx64, void, roctxRangeStop, (uint64_t range)) {
  msl_range_end(range | runtime::kForeignRange);
  if (auto *const real = reinterpret_cast<void (*)(uint64_t)>(hook::realOf(msl_hook_of_roctxRangeStop, __builtin_return_address(0))))
    real(range);
}
