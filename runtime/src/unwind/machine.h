// The processor's registers as the unwind tables number them, and the layout of the registers that the kernel pushes
// for a signal.
#pragma once

#include <cstdint>

namespace msleaks::runtime::unwind::machine {

#if defined(__x86_64__)
inline constexpr uint64_t kFramePointer = 6, kStackPointer = 7, kReturnAddress = 16;
inline constexpr bool kHasLinkRegister = false;
// The offset of ucontext_t from the stack pointer at the handler's return into the kernel's code.
inline constexpr uint64_t kSignalFrame = 120, kSignalStack = 160, kSignalAddress = 168, kSignalLink = 168;
#elif defined(__aarch64__)
inline constexpr uint64_t kFramePointer = 29, kStackPointer = 31, kReturnAddress = 30;
inline constexpr bool kHasLinkRegister = true;
// The kernel pushes siginfo_t, then ucontext_t.
inline constexpr uint64_t kSignalFrame = 544, kSignalLink = 552, kSignalStack = 560, kSignalAddress = 568;
#else
inline constexpr uint64_t kFramePointer = ~0u, kStackPointer = ~0u, kReturnAddress = ~0u; // so no rule is found
inline constexpr bool kHasLinkRegister = false;
inline constexpr uint64_t kSignalFrame = 0, kSignalLink = 0, kSignalStack = 0, kSignalAddress = 0;
#endif

} // namespace msleaks::runtime::unwind::machine
