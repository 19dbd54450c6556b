// Where a PyTorch training is: in the forward part, the backward part, or the optimizer. The calls that allocate
// tensors show it.
#pragma once

#include "analysis/analyzers/tensor_origins.h"

#include <cstdint>

namespace msleaks::analysis::inline analyzers {

// The part of a pass that runs. A pass begins with a forward part.
enum class Part : uint8_t { None, Forward, Backward, Optimizer };

// The progress of a process. Each change of the part gets a new number.
struct Progress {
  Part part = Part::None;
  bool has_backward = false; // a backward part has begun
  uint32_t number = 0, pass = 0;
  uint64_t begin_ns = 0; // of the part

  // A tensor was allocated by this call.
  void onTensor(TensorOrigin origin, uint64_t time_ns) {
    const Part next = partOf(origin);
    if (next == Part::None || next == part)
      return;
    part = next;
    begin_ns = time_ns;
    ++number;
    pass += next == Part::Forward ? 1 : 0;
    has_backward = has_backward || next == Part::Backward;
  }

private:
  static constexpr Part partOf(TensorOrigin origin) {
    switch (origin) {
    case TensorOrigin::Module:
      return Part::Forward;
    case TensorOrigin::Backward:
      return Part::Backward;
    case TensorOrigin::Optimizer:
      return Part::Optimizer;
    default:
      return Part::None;
    }
  }
};

} // namespace msleaks::analysis::inline analyzers
