// The kind of a tensor of PyTorch: a parameter, a gradient, an activation and others (docs/pytorch.md). The call that
// allocated a tensor shows its kind, together with the parts of the training that began before its end.
#pragma once

#include "analysis/analyzers/tensor_origins.h"
#include "analysis/analyzers/training_progress.h"

#include <cstdint>

namespace msleaks::analysis::inline analyzers {

enum class TensorKind : uint8_t {
  Parameters,
  Gradients,
  OptimizerState,
  Activations,
  Kept,
  Forward,
  Temporary,
  Other,
  Count
};

// A live tensor, as it was at its allocation.
struct TensorBirth {
  TensorOrigin origin = TensorOrigin::NoTensor;
  Part part = Part::None;
  uint32_t number = 0, pass = 0; // of Progress
};

inline TensorBirth bornNow(TensorOrigin origin, const Progress &now) {
  return {origin, now.part, now.number, now.pass};
}

inline TensorKind kindOfForward(const TensorBirth &birth, const Progress &now, bool is_short) {
  if (!now.has_backward)
    return TensorKind::Forward;
  if (is_short)
    return TensorKind::Temporary;
  return now.pass <= birth.pass + 1 ? TensorKind::Activations : TensorKind::Kept;
}

// The kind of a tensor that ends now. It is short if no other part has begun since its allocation.
inline TensorKind kindOf(const TensorBirth &birth, const Progress &now) {
  const bool is_short = birth.number == now.number;
  switch (birth.origin) {
  case TensorOrigin::Construction:
    return TensorKind::Parameters;
  case TensorOrigin::Backward:
    return is_short ? TensorKind::Temporary : TensorKind::Gradients;
  case TensorOrigin::Optimizer:
    return is_short ? TensorKind::Temporary : TensorKind::OptimizerState;
  default:
    return birth.part == Part::Forward ? kindOfForward(birth, now, is_short) : TensorKind::Other;
  }
}

} // namespace msleaks::analysis::inline analyzers
