// The memory that ATB's operators use. ATB exports only a part of its classes. The structs below have the layout of
// ATB's sources of 2024 to 2026. In all these sources, SVector, Tensor and RunnerVariantPack were the same up to the
// last member below. The hooks check what they read. If a layout makes no sense, they write one note, and do not read
// it again.
#pragma once

#include "msleaks/abi/hook.h"
#include "msleaks/abi/symbol.h"
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

// ATB's SVector. It contains the elements itself, unless it has, or had, more elements than it has room for.
template <class Element> struct List {
  static constexpr uint64_t kRoom = 64, kMost = 256;
  uint64_t capacity, count;
  Element inside[kRoom + 1];
  const Element *outside;

  const Element *begin() const { return outside != nullptr ? outside : inside; }
  const Element *end() const { return begin() + count; }
  bool makesSense() const { return capacity <= kMost && count <= kMost && (outside != nullptr || count <= kRoom); }
};

// The first members of atb::RunnerVariantPack.
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

// Records that a call uses memory of a device. The event comes after the beginning of the operator's range. The runtime
// does not compare watched blocks here, because nothing runs yet.
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

// Returns the Call with which the runtime decides whether to record a use of memory, and at which site.
inline hook::Call useOfMemory(const void *caller) {
  constexpr abi::Traits kRow(abi::Verb::Access, abi::Family::Acl, abi::Heap::Device, abi::kFromHook);
  return {kRow.packed(), hook::kPass, reinterpret_cast<uint64_t>(caller), 0, 0, 0};
}

} // namespace msleaks::hooks::atb
