// dlsym, for programs that open the library themselves: where they find the real function behind a hook, they get the
// hook. RTLD_NEXT asks from where the caller stands, and every other question goes on as if nobody had looked: dlsym is
// left by a jump, so that the next one finds its caller's address as its own return address.
#include "registry.h"

#include "real.h"

#include "msleaks/runtime/thread.h"

#include <atomic>
#include <dlfcn.h>

using namespace msleaks;

extern "C" {
using LookUp = void *(*)(void *, const char *);
// Both used below.
[[gnu::visibility("hidden")]] LookUp msl_next_dlsym() noexcept;
[[gnu::visibility("hidden")]] void *msl_hook_instead(void *handle, const char *name) noexcept;
}

namespace {
// No function has this address.
void *const kAsk = reinterpret_cast<void *>(1);

// Found under the default scope, a hook answers for a function that perhaps nobody has.
void *ifReal(hook::Function &function) noexcept {
  if (hooks::realOf(function) != nullptr)
    return function.hook;
  hooks::lookUp(RTLD_NEXT, function.name); // sets dlerror
  return nullptr;
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

void *msl_hook_instead(void *handle, const char *name) noexcept {
  if (name == nullptr || handle == RTLD_NEXT || __msl_thread.call.inside == runtime::kInsideRuntime)
    return kAsk;
  hook::Function *function = hooks::findFunction(name);
  if (function == nullptr)
    return kAsk;
  void *found = msl_next_dlsym()(handle, name);
  if (handle == RTLD_DEFAULT)
    return found == function->hook ? ifReal(*function) : kAsk;
  void *instead = hooks::hookOf(name, found);
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
