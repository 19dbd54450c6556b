// Hook of dlsym, for programs that open a library themselves: if they look up the real function of a hook, they get the
// hook. Any other look-up goes on to the real dlsym. The hook jumps there, so that the real dlsym finds the caller's
// address as its return address. RTLD_NEXT needs the caller's address.
#include "core/real_search.h"
#include "core/registry.h"

#include "host/real.h"

#include "msleaks/runtime/thread.h"

#include <atomic>
#include <dlfcn.h>

using namespace msleaks;

extern "C" {
using LookUp = void *(*)(void *, const char *);
// The assembly code below calls both functions.
[[gnu::visibility("hidden")]] LookUp msl_next_dlsym() noexcept;
[[gnu::visibility("hidden")]] void *msl_hook_instead(void *handle, const char *name, const void *caller) noexcept;
}

namespace {
// The result that means: call the real dlsym. No function has this address.
void *const kAsk = reinterpret_cast<void *>(1);

// The look-up found the hook, but the real function may not exist. It is the next definition in the global scope. For
// RTLD_DEFAULT it may also be in the images that were opened together with the caller's image.
void *ifReal(hook::Function &function, void *handle, const void *caller) noexcept {
  void *real = hooks::lookUp(RTLD_NEXT, function.name); // also sets dlerror's message
  if (real == nullptr && handle == RTLD_DEFAULT) {
    real = hooks::realInScopeOf(function, caller);
    if (real != nullptr)
      hooks::forgetMessage();
  }
  if (hook::Function *const behind = hooks::functionOfHook(function.name, real);
      behind != nullptr && !hooks::hasReal(*behind)) {
    hooks::lookUp(RTLD_NEXT, "a function behind hooks"); // sets dlerror, because no function has this name
    return nullptr;
  }
  if (real == nullptr)
    return nullptr;
  return hooks::leadsTo(function, real, caller) ? kAsk : real; // kAsk, not the hook: with RTLD_DEEPBIND the linker may
                                                               // find another function
}
} // namespace

LookUp msl_next_dlsym() noexcept {
  static constinit std::atomic<LookUp> known{nullptr};
  LookUp next = known.load(std::memory_order_relaxed);
  if (next != nullptr)
    return next;
  for (const char *version : {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"})
    if (next == nullptr)
      next = reinterpret_cast<LookUp>(::dlvsym(RTLD_NEXT, "dlsym", version));
  known.store(next, std::memory_order_relaxed);
  return next;
}

void *msl_hook_instead(void *handle, const char *name, const void *caller) noexcept {
  if (name == nullptr || handle == RTLD_NEXT || __msl_thread.call.inside == runtime::kInsideRuntime)
    return kAsk;
  hook::Function *function = hooks::findFunction(name);
  if (function == nullptr)
    return kAsk;
  void *found = msl_next_dlsym()(handle, name);
  if (found == function->hook)
    return ifReal(*function, handle, caller);
  void *instead = handle != RTLD_DEFAULT ? hooks::hookOf(name, found, caller) : nullptr;
  return instead != nullptr ? instead : kAsk;
}

void *hooks::lookUp(void *handle, const char *name) noexcept { return msl_next_dlsym()(handle, name); }

// clang-format off
#if defined(__x86_64__)
__asm__(R"(
  .text
  .globl dlsym
  .type dlsym, @function
dlsym:
  .cfi_startproc
  endbr64
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  movq 24(%rsp), %rdx
  call msl_hook_instead
  cmpq $1, %rax
  je 1f
  addq $24, %rsp
  .cfi_adjust_cfa_offset -24
  ret
1:
  .cfi_adjust_cfa_offset 24
  call msl_next_dlsym
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  jmp *%rax
  .cfi_endproc
  .size dlsym, .-dlsym
)");
#elif defined(__aarch64__)
__asm__(R"(
  .text
  .globl dlsym
  .type dlsym, %function
dlsym:
  .cfi_startproc
  hint #34
  stp x29, x30, [sp, #-32]!
  .cfi_adjust_cfa_offset 32
  .cfi_rel_offset x29, 0
  .cfi_rel_offset x30, 8
  stp x0, x1, [sp, #16]
  mov x2, x30
  bl msl_hook_instead
  cmp x0, #1
  b.eq 1f
  ldp x29, x30, [sp], #32
  ret
1:
  bl msl_next_dlsym
  mov x16, x0
  ldp x0, x1, [sp, #16]
  ldp x29, x30, [sp], #32
  .cfi_adjust_cfa_offset -32
  .cfi_restore x29
  .cfi_restore x30
  br x16
  .cfi_endproc
  .size dlsym, .-dlsym
)");
#endif
