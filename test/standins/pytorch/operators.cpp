// The operators of the stand-in for libtorch_cpu.so.
#include "operators.h"

namespace {

// A call that is not the last thing that the function does, so the function stays in the call path.
void run(at::_ops::Body body) {
  body();
  asm volatile("");
}

} // namespace

// PyTorch's library contains the names of its operators.
extern const char *const names_of_operators[];
const char *const names_of_operators[] = {"aten::linear", "aten::add", "aten::add_", "aten::ad"};

void at::_ops::linear::call(Body body) { run(body); }
void at::_ops::add_Tensor::call(Body body) { run(body); }
void at::_ops::add__Tensor_out::redispatch(Body body) { run(body); }
void torch::autograd::Engine::evaluate_function(Body body) { run(body); }
void torch::autograd::Engine::evaluate_function(std::shared_ptr<GraphTask> &, Node *node, InputBuffer &,
                                                const std::shared_ptr<ReadyQueue> &) {
  run(node->body);
}
void torch::autograd::AccumulateGrad::apply(Body body) { run(body); }
void torch::autograd::generated::AddmmBackward0::apply(Body body) { run(body); }
