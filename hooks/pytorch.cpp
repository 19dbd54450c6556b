// Follows the operators of PyTorch, of each version since 1.13, without its headers. A block that an operator allocates
// gets an owner such as `pytorch@operator@aten::linear`. The end of `Optimizer.step` is the end of a step (msl_step).
//
// PyTorch calls an observer at the begin and the end of each operator (at::RecordFunction). The observer is registered
// at the first allocation of a tensor: before, the static objects of libtorch may not exist yet.
#include "loaded_image.h"
#include "own_hook.h"

#include "msleaks/api.h"
#include "msleaks/runtime/errno_kept.h"
#include "msleaks/runtime/record.h"

#include <atomic>
#include <cstdio>
#include <cstring>

using namespace msleaks;

namespace {

// The context of an observer, which PyTorch destroys after the end. The destructor makes the compiler return the object
// as it returns a std::unique_ptr.
struct Context {
  void *none = nullptr;
  ~Context() {} // NOLINT(modernize-use-equals-default): a default destructor would change how the object is returned
};

// at::RecordFunctionCallback. at::RecordScope numbers the scopes.
constexpr unsigned kScopes = 10, kUserScope = 7;
struct Observer {
  Context (*start)(const void *function);
  void (*end)(const void *function, void *context);
  double probability;
  unsigned char scopes[kScopes];
  unsigned char rest[30]; // whether the observer needs inputs, outputs or ids, and room for later members
};
static_assert(sizeof(Observer) == 64);

using Register = uint64_t(Observer);
using NameOf = const char *(const void *);
struct Symbols {
  Register *add;
  NameOf *name_of;
};
constinit Symbols torch{};

// An operator or scope of this thread that has not ended. PyTorch may end it in another thread, or later than a scope
// around it. So its end is recognised by the address of its at::RecordFunction.
struct Open {
  const void *function;
  enum Kind : uint8_t { Owner, Range, Step } kind; // Step = an owner whose end is the end of a step
};
struct OpenCalls {
  static constexpr uint32_t kMost = 16; // inner ones are not recorded
  Open calls[kMost];
  uint32_t count, owners;
};
[[gnu::tls_model("initial-exec")]] thread_local constinit OpenCalls open_calls{};
constinit std::atomic<uint64_t> steps{0};

constexpr char kBackward[] = "autograd::engine::evaluate_function: ", kOptimizer[] = "Optimizer.",
               kStep[] = "Optimizer.step#";

bool beginsWith(const char *text, const char *prefix) noexcept {
  return std::strncmp(text, prefix, std::strlen(prefix)) == 0;
}

void pushOwner(const char *component, const char *name) noexcept {
  char owner[256];
  std::snprintf(owner, sizeof owner, "pytorch@%s@%s", component, name);
  msl_owner_push(owner);
}

bool hasRoom(const OpenCalls &open) noexcept { return open.count < OpenCalls::kMost; }

void begin(OpenCalls &open, const void *function, Open::Kind kind) noexcept {
  open.calls[open.count++] = {function, kind};
  open.owners += kind != Open::Range ? 1 : 0;
}

void endInnermost(OpenCalls &open) noexcept {
  const Open::Kind kind = open.calls[--open.count].kind;
  if (kind == Open::Range)
    return msl_range_pop();
  --open.owners;
  msl_owner_pop();
  if (kind == Open::Step)
    msl_step(steps.fetch_add(1, std::memory_order_relaxed) + 1);
}

// Ends the call, and all calls inside it that have not ended.
void end(const void *function, void *) noexcept {
  OpenCalls &open = open_calls;
  uint32_t at = open.count;
  while (at != 0 && open.calls[at - 1].function != function)
    --at;
  while (at != 0 && open.count >= at)
    endInnermost(open);
}

// Only the outermost operator owns its blocks: the user's line calls it, and others run inside it.
Context beginOperator(const void *function) noexcept {
  OpenCalls &open = open_calls;
  if (open.owners != 0 || !hasRoom(open))
    return {};
  const runtime::ErrnoKept kept;
  const char *name = torch.name_of(function);
  if (beginsWith(name, kBackward))
    pushOwner("backward", name + sizeof kBackward - 1);
  else
    pushOwner("operator", name);
  begin(open, function, Open::Owner);
  return {};
}

// A scope that Python code has named by torch.profiler.record_function. PyTorch's own optimizers do so, too.
Context beginUserScope(const void *function) noexcept {
  OpenCalls &open = open_calls;
  if (!hasRoom(open))
    return {};
  const runtime::ErrnoKept kept;
  const char *name = torch.name_of(function);
  if (!beginsWith(name, kOptimizer)) {
    msl_range_push(name);
    begin(open, function, Open::Range);
    return {};
  }
  const char *own = std::strchr(name, '#');
  pushOwner("optimizer", own != nullptr ? own + 1 : name);
  begin(open, function, beginsWith(name, kStep) ? Open::Step : Open::Owner);
  return {};
}

int visitImage(dl_phdr_info *object, size_t, void *) noexcept {
  using namespace msleaks::hooks;
  const LoadedImage image(*object);
  const SymbolName add("_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE"),
      name_of("_ZNK2at14RecordFunction4nameEv");
  torch.add = reinterpret_cast<Register *>(image.definitionOf(add, nullptr));
  torch.name_of = reinterpret_cast<NameOf *>(image.definitionOf(name_of, nullptr));
  return torch.add != nullptr && torch.name_of != nullptr ? 1 : 0;
}

[[gnu::noinline, gnu::cold]] void observe() noexcept {
  if (::dl_iterate_phdr(visitImage, nullptr) == 0)
    return;
  Observer operators{beginOperator, end, 1.0, {}, {}}, user{beginUserScope, end, 1.0, {}, {}};
  for (unsigned scope = 0; scope < kScopes; ++scope)
    (scope == kUserScope ? user : operators).scopes[scope] = 1;
  torch.add(operators);
  torch.add(user);
}

constinit std::atomic<bool> is_observed{false};

// Whether the session records what the observer reports.
bool isWanted() noexcept {
  constexpr uint32_t kKinds = abi::enabledBit(abi::EventKind::OwnerPush) | abi::enabledBit(abi::EventKind::Step) |
                              abi::enabledBit(abi::EventKind::RangeBegin);
  return (runtime::enabledWord() & kKinds) != 0;
}

} // namespace

// c10::memoryProfilingEnabled(). libc10 calls it at each allocation of a tensor on the host.
MSL_OWN_HOOK(libc10, bool, _ZN3c1022memoryProfilingEnabledEv, ()) {
  if (!is_observed.load(std::memory_order_relaxed) && isWanted() &&
      !is_observed.exchange(true, std::memory_order_relaxed))
    observe();
  auto *const real = reinterpret_cast<bool (*)()>(
      hook::realOf(msl_hook_of__ZN3c1022memoryProfilingEnabledEv, __builtin_return_address(0)));
  return real != nullptr && real();
}
