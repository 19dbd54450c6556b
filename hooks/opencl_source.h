// Counted copies of programs that OpenCL is given as source text.
#pragma once

namespace msleaks::hooks {

// The program in which the counted copies of this one's kernels are: one of ours, if the program was compiled from
// source and the session asks for that (msleaks-run --cfg), or the program itself. With CountedLock held.
void *countedProgramOf(void *program) noexcept;

} // namespace msleaks::hooks
