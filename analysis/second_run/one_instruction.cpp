#include "analysis/second_run/one_instruction.h"

#include "analysis/reach/process_memory.h"

#include <cerrno>
#include <csignal>
#include <sys/ptrace.h>

namespace msleaks::analysis::inline second_run {
namespace {

constexpr size_t kMostInstructionBytes = 15;

constexpr uint64_t bitOf(int signal) { return uint64_t{1} << (signal - 1); }
// The signals that an instruction can raise must not be blocked: the kernel would end the program, without its handler.
constexpr uint64_t kRaised = bitOf(SIGSEGV) | bitOf(SIGBUS) | bitOf(SIGFPE) | bitOf(SIGILL) | bitOf(SIGTRAP);

Instruction resumed(pid_t tid, int request) {
  if (ptrace(static_cast<__ptrace_request>(request), tid, nullptr, nullptr) != 0)
    return {};
  const auto status = waitForStop(tid);
  const bool made = status && isTrap(*status);
  return {made, made ? std::nullopt : status};
}

#if defined(__x86_64__)

constexpr uint64_t kBreakpoint = 0xcc, kByte = 0xff; // int3

size_t repeatedWriteAt(pid_t process, uint64_t address) {
  uint8_t code[kMostInstructionBytes]{};
  return repeatedWriteBytes(code, readMemory(process, address, std::as_writable_bytes(std::span(code))));
}

// PTRACE_SINGLESTEP would stop after each repetition. So a breakpoint at the next instruction stops the thread.
Instruction runTo(const StoppedThread &thread, uint64_t next) {
  auto *const at = reinterpret_cast<void *>(next);
  errno = 0;
  const auto before = static_cast<uint64_t>(ptrace(PTRACE_PEEKTEXT, thread.tid(), at, nullptr));
  if (errno != 0 || ptrace(PTRACE_POKETEXT, thread.tid(), at, (before & ~kByte) | kBreakpoint) != 0)
    return resumed(thread.tid(), PTRACE_SINGLESTEP);
  Instruction instruction = resumed(thread.tid(), PTRACE_CONT);
  ptrace(PTRACE_POKETEXT, thread.tid(), at, before);
  if (!instruction.made)
    return instruction;
  auto registers = thread.registers();
  if (!registers)
    return {};
  registers->rip = next;
  thread.setRegisters(*registers);
  return instruction;
}

#endif

} // namespace

size_t repeatedWriteBytes(const uint8_t *code, size_t bytes) {
  bool repeats = false;
  for (size_t i = 0; i < bytes; ++i) {
    switch (code[i]) {
    case 0xf2:
    case 0xf3:
      repeats = true;
      continue;
    case 0x26: // prefixes of segments
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0x64:
    case 0x65:
    case 0x66: // prefixes that change the size of the operand or address
    case 0x67:
      continue;
    case 0xa4: // movs, stos
    case 0xa5:
    case 0xaa:
    case 0xab:
      return repeats ? i + 1 : 0;
    default:
      if ((code[i] & 0xf0) != 0x40) // REX
        return 0;
    }
  }
  return 0;
}

#if defined(__x86_64__)

Instruction makeInstruction(const StoppedThread &thread, pid_t process) {
  const auto registers = thread.registers();
  if (!registers)
    return {};
  const SignalsHeldBack held(thread, ~kRaised);
  if (const size_t bytes = repeatedWriteAt(process, registers->rip); bytes != 0)
    return runTo(thread, registers->rip + bytes);
  return resumed(thread.tid(), PTRACE_SINGLESTEP);
}

#else

Instruction makeInstruction(const StoppedThread &, pid_t) { return {}; }

#endif

} // namespace msleaks::analysis::inline second_run
