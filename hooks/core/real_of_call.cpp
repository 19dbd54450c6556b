// Finds the real function of a hooked call, of a look-up, and of a call that msleaks itself makes.
#include "core/loaded_image.h"
#include "core/real_bindings.h"
#include "core/real_search.h"
#include "core/registry.h"

#include "msleaks/runtime/errno_kept.h"
#include "msleaks/runtime/note.h"

#include <cstdio>
#include <dlfcn.h>

// The begin and end of this library's image. The linker defines them.
extern "C" [[gnu::visibility("hidden")]] const char __ehdr_start[], _end[];

namespace msleaks::hooks {
namespace {

// The thread's last call whose real function depends on its caller. If a hook calls another library's hook, the second
// hook uses this caller. If msleaks itself calls a driver, it uses the library of this call's real function.
struct LastCall {
  const void *caller;
  void *real;
};
[[gnu::tls_model("initial-exec")]] constinit __thread LastCall last_call = {nullptr, nullptr};

// Returns the real function of all callers; null: it depends on the caller.
void *everybodysOf(const hook::Function &function) noexcept {
  return __atomic_load_n(&function.real, __ATOMIC_ACQUIRE);
}
void keepForAll(hook::Function &function, void *real) noexcept {
  __atomic_store_n(&function.real, real, __ATOMIC_RELEASE);
}

bool isOurs(const void *caller) noexcept {
  const auto begin = reinterpret_cast<uint64_t>(__ehdr_start), end = reinterpret_cast<uint64_t>(_end);
  return reinterpret_cast<uint64_t>(caller) - begin < end - begin;
}

const char *shown(const char *path) noexcept { return *path != 0 ? path : "the program"; }

void noteMissing(const hook::Function &function, const RealSearch &found) noexcept {
  if (function.hook == nullptr || !isNewlyMissing(function))
    return;
  char note[512];
  std::snprintf(note, sizeof note, "%s calls %s, which no loaded library has: the call fails",
                found.is_known ? shown(found.path) : "code in no library", function.name);
  __msl_note(note);
}

// Writes one note for each library, for at most 16 libraries.
void noteSecond(const hook::Function &function, const void *real) noexcept {
  static constinit std::atomic<const void *> noted[16] = {};
  const void *const image = imageBegin(real);
  for (std::atomic<const void *> &one : noted) {
    const void *known = nullptr;
    if (one.compare_exchange_strong(known, image)) {
      char path[256] = "?", note[512];
      pathOfImage(real, path, sizeof path);
      std::snprintf(note, sizeof note,
                    "%s is not the first library with %s: what the program looks up in it is not recorded", shown(path),
                    function.name);
      return __msl_note(note);
    }
    if (known == image)
      return;
  }
}

// If the image has no reference to the function, it calls an address that somebody has looked up.
void *chooseForCall(const hook::Function &function, const RealSearch &found) noexcept {
  if (found.own != nullptr && found.refers)
    return found.own;
  if (void *const looked_up = boundLookUp(function))
    return looked_up;
  void *const real = found.own != nullptr ? found.own : found.any;
  return real != nullptr ? bindLookUps(function, real) : nullptr;
}

// Null: several libraries define the function, and it is not known which one to call. A wrong library would give a
// wrong answer.
void *chooseForLibrary(const hook::Function &function, const RealSearch &found) noexcept {
  if (found.own != nullptr)
    return found.own;
  return found.count == 1 ? found.any : boundLookUp(function);
}

// The next function may be a hook of an old library, which has one real function for all callers. If this is the wrong
// one for the caller, the old hook is skipped.
void *pastOldHook(const hook::Function &function, const void *caller, void *real) noexcept {
  hook::Function *const behind = functionOfHook(function.name, real);
  RealSearch found;
  if (behind == nullptr || asksForCallers(*behind) || !searchReal(*behind, caller, Asker::Call, found))
    return real;
  void *const wanted = found.everybodys != nullptr ? found.everybodys : chooseForCall(*behind, found);
  void *kept = nullptr;
  const bool is_first = wanted != nullptr && __atomic_compare_exchange_n(&behind->real, &kept, wanted, false,
                                                                         __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  return is_first || wanted == nullptr || kept == wanted ? real : wanted;
}

void *libcsOwn(hook::Function &function) noexcept {
  void *const real = lookUp(RTLD_NEXT, function.name);
  if (real != nullptr)
    keepForAll(function, real);
  else
    forgetMessage();
  return real;
}

[[gnu::noinline, gnu::cold]] void *findReal(hook::Function &function, const void *address, Asker asker) noexcept {
  const runtime::ErrnoKept kept;
  if (isOfLibc(function))
    return libcsOwn(function);
  const uint32_t epoch = bindingEpoch();
  const bool is_call = asker == Asker::Call;
  const void *const image = imageBegin(address);
  const uint64_t key = image == nullptr ? keyOf(is_call ? Of::Outside : Of::Library, nullptr)
                                        : keyOf(is_call ? Of::Image : Of::Library, is_call ? image : address);
  void *real = boundTo(function, key);
  if (real == nullptr) {
    RealSearch found;
    if (!searchReal(function, address, asker, found))
      return lookUp(RTLD_NEXT, function.name);
    if (found.everybodys != nullptr) {
      keepForAll(function, found.everybodys);
      return found.everybodys;
    }
    real = is_call ? chooseForCall(function, found) : chooseForLibrary(function, found);
    if (real == nullptr && is_call)
      noteMissing(function, found);
    if (real == nullptr)
      return nullptr;
    if (is_call)
      real = pastOldHook(function, address, real);
    bind(function, key, real, epoch);
  }
  if (is_call && image != nullptr)
    bind(function, keyOf(Of::Page, address), real, epoch);
  return real;
}

// A real function may end with a jump to another hooked function: `operator delete(void *, size_t)` of libstdc++ jumps
// to `operator delete(void *)`. Then the caller of the second hook is the first hook.
[[gnu::noinline]] void *realForCall(hook::Function &function, const void *caller) noexcept {
  if (isOurs(caller) && last_call.caller != nullptr)
    caller = last_call.caller;
  void *real = boundTo(function, keyOf(Of::Page, caller));
  if (real == nullptr)
    real = findReal(function, caller, Asker::Call);
  if (real != nullptr && everybodysOf(function) == nullptr)
    last_call = {caller, real};
  return real;
}

[[gnu::noinline]] void *realForLibrary(hook::Function &function) noexcept {
  const void *const library = last_call.real;
  void *const real = boundTo(function, keyOf(Of::Library, library));
  return real != nullptr ? real : findReal(function, library, Asker::Library);
}

// Whether the hook has one real function for all callers. A library with hooks of the first version stores it in the
// Function.
bool servesOne(const hook::Function &function) noexcept { return isOfLibc(function) || !asksForCallers(function); }

// Whether the caller's image defines the function itself: it passes its own calls on, as a loader does to its drivers.
// The hook of its own function records these calls.
bool forwards(const hook::Function &function, const void *caller) noexcept {
  return !isOfLibc(function) && definitionBeside(caller, function.name) != nullptr;
}

} // namespace

void *realOf(hook::Function &function) noexcept {
  void *const known = everybodysOf(function);
  return known != nullptr ? known : __msl_hook_real(&function, nullptr);
}

void *realInScopeOf(const hook::Function &function, const void *caller) noexcept {
  RealSearch found;
  return searchReal(function, caller, Asker::Call, found) ? found.own : nullptr;
}

bool hasReal(hook::Function &function) noexcept {
  constexpr int kMostHooks = 8; // largest number of hooks of one function
  RealSearch found;
  hook::Function *behind = &function;
  for (int i = 0; i < kMostHooks && behind != nullptr; ++i) {
    if (!searchReal(*behind, nullptr, Asker::Library, found))
      return false;
    behind = functionOfHook(function.name, found.any);
  }
  return found.any != nullptr && behind == nullptr;
}

bool leadsTo(hook::Function &function, void *real, const void *caller) noexcept {
  if (servesOne(function)) {
    void *known = nullptr;
    return __atomic_compare_exchange_n(&function.real, &known, real, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
           known == real;
  }
  void *known = everybodysOf(function);
  RealSearch found;
  if (known == nullptr && searchReal(function, caller, Asker::Call, found)) {
    if ((known = found.everybodys) != nullptr)
      keepForAll(function, known);
    else if (found.refers && found.own != nullptr && found.own != real)
      known = found.own;
    else
      known = bindLookUps(function, real);
  }
  if (known == real)
    return true;
  noteSecond(function, real);
  return false;
}

void *hookOf(const char *name, void *real, const void *caller) noexcept {
  hook::Function *function = findFunction(name);
  if (function == nullptr || real == nullptr || real == function->hook || forwards(*function, caller))
    return nullptr;
  return leadsTo(*function, real, caller) ? function->hook : nullptr;
}

} // namespace msleaks::hooks

using namespace msleaks;
using namespace msleaks::hooks;

void *__msl_hook_real(hook::Function *function, const void *caller) noexcept {
  if (void *const real = boundAtHome(*function, keyOf(Of::Page, caller))) [[likely]] {
    last_call = {caller, real};
    return real;
  }
  return caller != nullptr ? realForCall(*function, caller) : realForLibrary(*function);
}

void *__msl_hook_find(const hook::Function *function) noexcept {
  const runtime::ErrnoKept kept;
  RealSearch found;
  if (!searchReal(*function, last_call.caller, Asker::Call, found))
    return nullptr;
  return found.everybodys != nullptr ? found.everybodys : chooseForCall(*function, found);
}
