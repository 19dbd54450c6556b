// Defines hooks as a user would: for functions in msleaks' own table, and for a library that msleaks does not know.
#include "msleaks/hook.h"

#include <cstddef>

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
struct Map {
  static constexpr Symbol kRow = {.name = "pages_map",
                                  .verb = Verb::Map,
                                  .family = Family::Mmap,
                                  .heap = Heap::Mapping,
                                  .result = {ResultKind::Return, {}},
                                  .size = Position(0),
                                  .protection = Position(1),
                                  .mapping = Position(2)};
};
struct Move {
  static constexpr Symbol kRow = {.name = "pages_move",
                                  .verb = Verb::Realloc,
                                  .family = Family::Mmap,
                                  .heap = Heap::Mapping,
                                  .flags = kRealloc,
                                  .result = {ResultKind::Return, {}},
                                  .size = Position(2),
                                  .address = Position(0),
                                  .old_size = Position(1),
                                  .mapping = Position(3)};
};
struct Protect {
  static constexpr Symbol kRow = {.name = "pages_protect",
                                  .verb = Verb::Protect,
                                  .family = Family::Mmap,
                                  .heap = Heap::Mapping,
                                  .size = Position(1),
                                  .address = Position(0),
                                  .protection = Position(2),
                                  .status = true};
};
struct Unmap {
  static constexpr Symbol kRow = {.name = "pages_unmap",
                                  .verb = Verb::Free,
                                  .family = Family::Mmap,
                                  .heap = Heap::Mapping,
                                  .size = Position(1),
                                  .address = Position(0),
                                  .status = true};
};
} // namespace rows
MSL_HOOK_AS(rows::Take, libcuda, void *, pool_take, (int, size_t))
MSL_HOOK_AS(rows::Give, libcuda, void, pool_give, (int, void *))
MSL_HOOK_AS(rows::Map, libcuda, void *, pages_map, (size_t, int, int))
MSL_HOOK_AS(rows::Move, libcuda, void *, pages_move, (void *, size_t, size_t, int))
MSL_HOOK_AS(rows::Protect, libcuda, int, pages_protect, (void *, size_t, int))
MSL_HOOK_AS(rows::Unmap, libcuda, int, pages_unmap, (void *, size_t))
