// Makes a stopped thread execute only its next instruction.
#pragma once

#include "analysis/second_run/stopped_thread.h"

#include <cstdint>
#include <optional>

namespace msleaks::analysis::inline second_run {

struct Instruction {
  bool made = false;
  std::optional<int> instead; // if not made, the thread's wait status. Nothing: the thread is being killed
};

// An instruction such as `rep stos` is executed with all its repetitions. No signal handler of the thread runs
// meanwhile. All other threads of the process must stand still.
Instruction makeInstruction(const StoppedThread &, pid_t process);

// If the code begins with an instruction that repeats its write, returns the size of this instruction with its
// prefixes. If not, returns 0.
size_t repeatedWriteBytes(const uint8_t *code, size_t bytes);

} // namespace msleaks::analysis::inline second_run
