// Reads what a program contains: its kernels, and those that the plugin has added (abi/device_counts.h).
#pragma once

#include "counting/counted_kernels.h"
#include "opencl/calls.h"
#include "opencl/text.h"

#include "msleaks/abi/device_counts.h"

#include <cstring>
#include <string_view>

namespace msleaks::hooks::cl {

// Whether the plugin has added the kernel of this name.
inline bool isOurs(std::string_view name) {
  return name.starts_with(abi::kCountedPrefix) || name.starts_with(abi::kGraphsPrefix);
}

inline constexpr unsigned kKernelCount = 0x1167, kKernelNames = 0x1168; // for clGetProgramInfo

// The names, with `;` between them.
struct Names : OpenClText {
  // `program_info`: clGetProgramInfo.
  Names(hook::Function &program_info, Program program) : OpenClText(program_info, program, kKernelNames) {}

  // Calls f with each name. During this call the name ends with 0. f may write to the text before the name's end.
  template <class F> void forEach(F &&f) {
    for (char *name = text(); name != nullptr && *name != 0;) {
      char *const end = std::strchr(name, ';');
      if (end != nullptr)
        *end = 0;
      f(static_cast<const char *>(name));
      if (end != nullptr)
        *end = ';';
      name = end != nullptr ? end + 1 : nullptr;
    }
  }
};

// Returns the program that contains the counted copies of this program's kernels. If the program was given as source
// and the session counts kernels (msleaks-run --cfg), this is a program that the hooks have made (opencl/source.cpp).
// Otherwise it is the program itself. Hold CountedLock.
Program countedProgramOf(Program program) noexcept;

// Finds a kernel in the program's tables of graphs. Null: no table contains it. Hold CountedLock.
CountedFunction *functionOf(Program program, Context context, const char *kernel) noexcept;

} // namespace msleaks::hooks::cl
