// Follows the scopes that Python code names by torch.profiler.record_function, in each version of PyTorch since 1.13,
// without its headers. PyTorch's own optimizers do so, too: the end of `Optimizer.step` is the end of a step, unless
// the program reports its steps itself.
//
// PyTorch calls an observer at the begin and the end of each scope (at::RecordFunction). The observer is registered at
// the first allocation of a tensor: before, the static objects of libtorch may not exist yet. It does not observe
// operators, since PyTorch then takes a slower way through its dispatcher. Call paths show the operators
// (analysis/places/path_owners.h).
#include "core/loaded_image.h"
#include "core/own_hook.h"

#include "msleaks/api.h"
#include "msleaks/runtime/errno_kept.h"
#include "msleaks/runtime/framework_steps.h"
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

// A scope of this thread that has not ended. PyTorch may end it in another thread, or later than a scope around it. So
// its end is recognised by the address of its at::RecordFunction.
struct Open {
  const void *function;
  enum Kind : uint8_t { Owner, Range, Step } kind; // Step = an owner whose end is the end of a step
};
struct OpenCalls {
  static constexpr uint32_t kMost = 16; // inner ones are not recorded
  Open calls[kMost];
  uint32_t count;
};
[[gnu::tls_model("initial-exec")]] thread_local constinit OpenCalls open_calls{};
constinit std::atomic<uint64_t> steps{0};

constexpr char kOptimizer[] = "Optimizer.", kStep[] = "Optimizer.step#";

bool beginsWith(const char *text, const char *prefix) noexcept {
  return std::strncmp(text, prefix, std::strlen(prefix)) == 0;
}

void endInnermost(OpenCalls &open) noexcept {
  const Open::Kind kind = open.calls[--open.count].kind;
  if (kind == Open::Range)
    return msl_range_pop();
  msl_owner_pop();
  if (kind == Open::Step)
    __msl_step_of_framework(steps.fetch_add(1, std::memory_order_relaxed) + 1);
}

// Ends the scope, and all scopes inside it that have not ended.
void end(const void *function, void *) noexcept {
  OpenCalls &open = open_calls;
  uint32_t at = open.count;
  while (at != 0 && open.calls[at - 1].function != function)
    --at;
  while (at != 0 && open.count >= at)
    endInnermost(open);
}

// Returns "AdamW.step" for "Optimizer.step#AdamW.step".
const char *ownNameOf(const char *scope) noexcept {
  const char *own = std::strchr(scope, '#');
  return own != nullptr ? own + 1 : scope;
}

Open::Kind open(const char *name) noexcept {
  if (!beginsWith(name, kOptimizer)) {
    msl_range_push(name);
    return Open::Range;
  }
  char owner[256];
  std::snprintf(owner, sizeof owner, "pytorch@optimizer@%s", ownNameOf(name));
  msl_owner_push(owner);
  return beginsWith(name, kStep) ? Open::Step : Open::Owner;
}

Context begin(const void *function) noexcept {
  OpenCalls &calls = open_calls;
  if (calls.count == OpenCalls::kMost)
    return {};
  const runtime::ErrnoKept kept;
  calls.calls[calls.count++] = {function, open(torch.name_of(function))};
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
  Observer observer{begin, end, 1.0, {}, {}};
  observer.scopes[kUserScope] = 1;
  torch.add(observer);
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
