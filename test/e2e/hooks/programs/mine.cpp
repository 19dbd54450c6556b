// Hooks as somebody else writes them: rows of msleaks' own table, and rows for a library that it does not know.
#include "msleaks/hook.h"

MSL_HOOK(libcuda, int, cuMemAlloc_v2, (uint64_t *, size_t))
MSL_HOOK(libcuda, int, cuMemFree_v2, (uint64_t))

namespace rows {
using namespace msleaks::abi;
struct Take {
  static constexpr Symbol kRow = {.name = "pool_take",
                                  .verb = Verb::Alloc,
                                  .family = Family::User,
                                  .heap = Heap::Device,
                                  .result = {ResultKind::Return, {}},
                                  .size = Position(1)};
};
struct Give {
  static constexpr Symbol kRow = {
      .name = "pool_give", .verb = Verb::Free, .family = Family::User, .heap = Heap::Device, .address = Position(1)};
};
} // namespace rows
MSL_HOOK_AS(rows::Take, libcuda, void *, pool_take, (int, size_t))
MSL_HOOK_AS(rows::Give, libcuda, void, pool_give, (int, void *))
