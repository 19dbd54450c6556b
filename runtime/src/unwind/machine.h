// The processor's registers by their numbers in unwind tables. Also the offsets at which the kernel stores registers
// for a signal handler.
#pragma once

#include <cstdint>

namespace msleaks::runtime::unwind::machine {

#if defined(__x86_64__)
inline constexpr uint64_t kFramePointer = 6, kStackPointer = 7, kReturnAddress = 16;
inline constexpr bool kHasLinkRegister = false;
// The offsets of registers in the ucontext_t on the stack. They count from the stack pointer after the handler has
// returned.
inline constexpr uint64_t kSignalFrame = 120, kSignalStack = 160, kSignalAddress = 168, kSignalLink = 168;
#elif defined(__aarch64__)
inline constexpr uint64_t kFramePointer = 29, kStackPointer = 31, kReturnAddress = 30;
inline constexpr bool kHasLinkRegister = true;
// The offsets of registers from the stack pointer. A siginfo_t is at the stack pointer, and the ucontext_t follows.
inline constexpr uint64_t kSignalFrame = 544, kSignalLink = 552, kSignalStack = 560, kSignalAddress = 568;
#else
inline constexpr uint64_t kFramePointer = ~0u, kStackPointer = ~0u, kReturnAddress = ~0u; // so no rule is found
inline constexpr bool kHasLinkRegister = false;
inline constexpr uint64_t kSignalFrame = 0, kSignalLink = 0, kSignalStack = 0, kSignalAddress = 0;
#endif

} // namespace msleaks::runtime::unwind::machine
