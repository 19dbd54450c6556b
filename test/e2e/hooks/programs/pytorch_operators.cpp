// Calls operators of PyTorch (test/standins/pytorch), and begins and ends scopes in orders that are rare in real
// programs. Each part runs in a thread of its own, allocates tensors, and keeps them. Prints the observer's harm.
#include "operators.h"
#include "record_function.h"

#include "msleaks/api.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <thread>

namespace {

using at::RecordFunction;
constexpr auto kScope = at::RecordScope::USER_SCOPE;

void allocate(size_t bytes) {
  c10::memoryProfilingEnabled();
  static_cast<volatile char *>(std::malloc(bytes))[0] = 1;
}

void nested() {
  RecordFunction outer(kScope, "Optimizer.test#outer");
  allocate(1 << 16);
  RecordFunction(kScope, "Optimizer.test#inner"), allocate(1 << 16);
  {
    RecordFunction inner(kScope, "Optimizer.test#inner");
    allocate(1 << 16);
  }
  outer.end();
  allocate(1 << 17); // nobody's
}

void notNested() {
  std::optional<RecordFunction> first(std::in_place, kScope, "Optimizer.test#first");
  RecordFunction scope(kScope, "crossing scope");
  allocate(1 << 16);
  first.reset();
  allocate(1 << 17); // nobody's
  scope.end();
  RecordFunction after(kScope, "Optimizer.test#after crossing");
  allocate(1 << 16);
}

void scopeEndsFirst() {
  std::optional<RecordFunction> scope(std::in_place, kScope, "short scope");
  RecordFunction late(kScope, "Optimizer.test#late");
  allocate(1 << 16);
  scope.reset();
  late.end();
  allocate(1 << 17); // nobody's
  RecordFunction after(kScope, "Optimizer.test#after late");
  allocate(1 << 16);
}

// Thread B ends what A has begun. The operator of B stays open.
void endedElsewhere() {
  std::optional<RecordFunction> future(std::in_place, kScope, "future");
  std::thread([&] {
    RecordFunction own(kScope, "Optimizer.test#of B");
    allocate(1 << 16);
    future.reset();
    allocate(1 << 16);
  }).join();
  RecordFunction after(kScope, "Optimizer.test#of A");
  allocate(1 << 16);
}

void fail() {
  RecordFunction failing(kScope, "Optimizer.test#failing");
  allocate(1 << 16);
  RecordFunction inner(kScope, "Optimizer.test#inner of failing");
  throw std::runtime_error("an operator may throw");
}

void exceptions() {
  for (int i = 0; i < 40; ++i)
    try {
      RecordFunction scope(kScope, "failing scope");
      RecordFunction step(kScope, "Optimizer.step#Failing.step");
      fail();
    } catch (const std::runtime_error &) {
    }
  allocate(1 << 17); // nobody's
  RecordFunction after(kScope, "Optimizer.test#after failing");
  allocate(1 << 16);
}

void deep(int depth) {
  RecordFunction scope(kScope, "deep scope " + std::to_string(depth));
  if (depth != 0)
    deep(depth - 1);
  else
    RecordFunction(kScope, "Optimizer.test#deep"), allocate(1 << 17); // too deep: nobody's
}

void deepScopes() {
  deep(40);
  allocate(1 << 17); // nobody's
  RecordFunction after(kScope, "Optimizer.test#after deep");
  allocate(1 << 16);
}

void oddNames() {
  RecordFunction long_name(kScope, "Optimizer.test#" + std::string(5000, 'x'));
  allocate(1 << 16);
  long_name.end();
  RecordFunction no_name(kScope, "");
  allocate(1 << 17); // nobody's
  no_name.end();
  RecordFunction step(kScope, "Optimizer.step#Adam.step");
  allocate(1 << 16);
}

void tensor() { allocate(1 << 16); }

void operators() {
  at::_ops::linear::call(tensor);
  at::_ops::add_Tensor::call(tensor);
  at::_ops::add__Tensor_out::redispatch(tensor);
  at::_ops::linear::call([] { at::_ops::add_Tensor::call(tensor); }); // the outermost operator counts
  RecordFunction step(kScope, "Optimizer.step#Own.step");
  at::_ops::linear::call(tensor); // the program's own name counts
}

void backward() {
  using namespace torch::autograd;
  Engine::evaluate_function([] {
    generated::AddmmBackward0().apply([] { at::_ops::add_Tensor::call(tensor); });
    AccumulateGrad().apply(tensor);
    at::_ops::linear::call(tensor); // in a node that is not known
    tensor();
  });
}

void keepsErrno() {
  errno = 4711;
  RecordFunction named(kScope, "Optimizer.test#errno");
  RecordFunction scope(kScope, "Optimizer.step#Errno.step");
  scope.end();
  named.end();
  std::printf("errno %d\n", errno);
}

// The program reports its step itself. So the optimizer's step is none.
void ownStep() {
  msl_step(100);
  RecordFunction step(kScope, "Optimizer.step#Late.step");
}

} // namespace

int main() {
  allocate(8); // registers the observers
  for (void (*const part)() : {nested, notNested, scopeEndsFirst, endedElsewhere, exceptions, deepScopes, oddNames,
                               operators, backward, keepsErrno, ownStep})
    std::thread(part).join();
}
