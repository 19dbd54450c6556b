// A stopped thread makes the one instruction at which it stands.
#pragma once

#include "analysis/second_run/stopped_thread.h"

#include <cstdint>
#include <optional>

namespace msleaks::analysis::inline second_run {

struct Instruction {
  bool made = false;
  std::optional<int> instead; // not made: the thread's wait status; nothing: it is being killed
};

// With all its repetitions, where it has any (`rep stos`): the thread runs to the next instruction. No handler of the
// thread runs meanwhile. No other thread of the process may run.
Instruction makeInstruction(const StoppedThread &, pid_t process);

// The bytes of the prefixes and the instruction, if it is one that writes repeatedly by itself; else 0.
size_t repeatedWriteBytes(const uint8_t *code, size_t bytes);

} // namespace msleaks::analysis::inline second_run
