// Tells the runtime which node of a backward pass each thread evaluates. The forward pass has allocated the node, so
// the path of the node's block shows the line and the module whose gradients the node computes.
//
// PyTorch's engine evaluates each node by one function, and calls this function through the table of the dynamic
// linker. So it can be replaced. All its parameters are pointers, in each version of PyTorch since 1.13. In a build
// that calls the function directly, the hook is never called.
#include "core/own_hook.h"

#include "msleaks/runtime/errno_kept.h"
#include "msleaks/runtime/torch_node.h"

using namespace msleaks;

namespace {

// The nodes that this thread evaluates, outermost first. A node may run a backward pass of its own.
struct Evaluations {
  static constexpr uint32_t kMost = 16; // inner ones are not recorded
  const void *nodes[kMost];
  uint32_t count;
};
[[gnu::tls_model("initial-exec")]] thread_local constinit Evaluations evaluations{};

void enter(const void *node) noexcept {
  const runtime::ErrnoKept kept;
  Evaluations &open = evaluations;
  if (open.count < Evaluations::kMost)
    __msl_torch_node(open.nodes[open.count] = node);
  ++open.count;
}

void leave() noexcept {
  const runtime::ErrnoKept kept;
  Evaluations &open = evaluations;
  if (--open.count < Evaluations::kMost)
    __msl_torch_node(open.count != 0 ? open.nodes[open.count - 1] : nullptr);
}

} // namespace

// The unwinder calls this function for the hook's frame, if an exception leaves the evaluation. The hook cannot have a
// destructor instead: its personality would be a function of libstdc++.
extern "C" [[gnu::used, gnu::visibility("hidden")]] int msl_torch_node_unwound(int, int phase, uint64_t, void *,
                                                                               void *) noexcept {
  constexpr int kCleanupPhase = 2, kContinueUnwind = 8; // _UA_CLEANUP_PHASE and _URC_CONTINUE_UNWIND
  if ((phase & kCleanupPhase) != 0)
    leave();
  return kContinueUnwind;
}

// torch::autograd::Engine::evaluate_function(graph task, node, inputs, ready queue)
MSL_OWN_HOOK(
    libtorch_cpu, void,
    _ZN5torch8autograd6Engine17evaluate_functionERSt10shared_ptrINS0_9GraphTaskEEPNS0_4NodeERNS0_11InputBufferERKS2_INS0_10ReadyQueueEE,
    (void *engine, void *task, void *node, void *inputs, void *queue)) {
  asm(".cfi_personality 0x1b, msl_torch_node_unwound"); // 0x1b: relative to the pointer's own address, 4 bytes
  auto *const real = reinterpret_cast<void (*)(void *, void *, void *, void *, void *)>(hook::realOf(
      msl_hook_of__ZN5torch8autograd6Engine17evaluate_functionERSt10shared_ptrINS0_9GraphTaskEEPNS0_4NodeERNS0_11InputBufferERKS2_INS0_10ReadyQueueEE,
      __builtin_return_address(0)));
  if (real == nullptr)
    return;
  enter(node);
  real(engine, task, node, inputs, queue);
  leave();
}
