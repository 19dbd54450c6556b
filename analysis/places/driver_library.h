// The libraries of an accelerator: its driver, runtime, compiler and libraries of operators.
#pragma once

#include <string_view>

namespace msleaks::analysis::inline places {

// Whether the image is a library of CUDA, ROCm, Ascend CANN, OpenCL or Level Zero. The file's name decides, because
// such a library may be installed in any folder.
bool isDriverLibrary(std::string_view path);

} // namespace msleaks::analysis::inline places
