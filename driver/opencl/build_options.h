// Converts the options of a build of OpenCL (clBuildProgram) to clang's options.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace msleaks::driver {

// The device for which the program is built. The driver's compiler knows its device. For clang, options must describe
// it.
struct ClDevice {
  std::string extensions; // CL_DEVICE_EXTENSIONS: names with spaces between them
  std::string version;    // version of OpenCL, as in __OPENCL_VERSION__; empty: not known
};

// Returns the words of clang's command line. Leaves out options that only some drivers know.
std::vector<std::string> clangOptions(std::string_view options, const ClDevice &device);

} // namespace msleaks::driver
