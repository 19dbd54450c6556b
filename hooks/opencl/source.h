// Finds the counted copies of programs that OpenCL is given as source text.
#pragma once

namespace msleaks::hooks {

// Returns the program that contains the counted copies of this program's kernels. If the program was given as source
// and the session counts kernels (msleaks-run --cfg), this is a program that the hooks have made. Otherwise it is the
// program itself. Hold CountedLock.
void *countedProgramOf(void *program) noexcept;

} // namespace msleaks::hooks
