// Imitates the functions by which PyTorch calls its operators and runs a backward pass. Each function calls `body`.
// Only the names are PyTorch's, because msleaks reads the names of the functions in a call path.
#pragma once

#include <memory>

namespace at::_ops {

using Body = void (*)();

struct linear {
  static void call(Body);
};
struct add_Tensor {
  static void call(Body);
};
struct add__Tensor_out {
  static void redispatch(Body);
};

} // namespace at::_ops

namespace torch::autograd {

using at::_ops::Body;

// A node calls `body` when it is evaluated.
struct Node {
  Body body;
};
struct GraphTask {};
struct InputBuffer {};
struct ReadyQueue {};

struct Engine {
  static void evaluate_function(Body);
  void evaluate_function(std::shared_ptr<GraphTask> &, Node *, InputBuffer &, const std::shared_ptr<ReadyQueue> &);
};
struct AccumulateGrad {
  void apply(Body);
};

namespace generated {
struct AddmmBackward0 {
  void apply(Body);
};
} // namespace generated

} // namespace torch::autograd
