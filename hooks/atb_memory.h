// What ATB's operators are given. Of its classes only a part is exported; the rest is laid out here as it is in its
// sources of 2024 to 2026 (SVector, Tensor and RunnerVariantPack were the same in all of them up to the last member
// below). What is read is checked, and a layout that makes no sense is noted once and not read again.
#pragma once

#include "msleaks/abi/hook.h"
#include "msleaks/abi/symbols.h"
#include "msleaks/runtime/record.h"

#include <cstdint>

namespace msleaks::hooks::atb {

struct Tensor {
  int32_t type, format;
  int64_t extents[8];
  uint64_t dimensions;
  const void *device, *host;
  uint64_t bytes;

  static constexpr uint64_t kMostDimensions = 8;
  bool makesSense() const { return dimensions <= kMostDimensions; }
};
static_assert(sizeof(Tensor) == 104);

// ATB's SVector: elements lie in it, and outside once there are more than it has room for, or were.
template <class Element> struct List {
  static constexpr uint64_t kRoom = 64, kMost = 256;
  uint64_t capacity, count;
  Element inside[kRoom + 1];
  const Element *outside;

  const Element *begin() const { return outside != nullptr ? outside : inside; }
  const Element *end() const { return begin() + count; }
  bool makesSense() const { return capacity <= kMost && count <= kMost && (outside != nullptr || count <= kRoom); }
};

// The beginning of atb::RunnerVariantPack.
struct Pack {
  List<Tensor> in, out;
  List<bool> may_be_freed, need_memory;
  const void *host_tiling, *tiling;
  uint64_t tiling_bytes;
  const void *workspace;
  uint64_t workspace_bytes;
  const void *intermediate;
  uint64_t intermediate_bytes;
};
static_assert(sizeof(List<bool>) == 96 && sizeof(Pack) == 13816);

// A call's use of memory of a device. Behind the range of the operator, or within it; no look of a watch is made for
// it, since nothing runs yet.
inline void recordUse(const hook::Call &call, const void *memory, uint64_t bytes, uint32_t flags) {
  if (memory == nullptr)
    return;
  runtime::Thread &thread = __msl_thread;
  const abi::Traits row(call.traits);
  runtime::record(thread, abi::AccessEvent{{abi::EventKind::Access, row.heap(), runtime::deviceOf(thread, row),
                                            abi::kFromHook | flags, call.site, 0},
                                           reinterpret_cast<uint64_t>(memory),
                                           bytes});
}

// A call that uses memory, as the runtime asks about it: whether to record it, and where it is.
inline hook::Call useOfMemory(const void *caller) {
  constexpr abi::Traits kRow(abi::Verb::Access, abi::Family::Acl, abi::Heap::Device, abi::kFromHook);
  return {kRow.packed(), hook::kPass, reinterpret_cast<uint64_t>(caller), 0, 0, 0};
}

} // namespace msleaks::hooks::atb
