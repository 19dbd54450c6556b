// Converts the options of OpenCL's clBuildProgram to clang's options.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace msleaks::driver {

// The device for which the program is built. The driver's compiler knows it, but clang needs options that describe it.
struct ClDevice {
  std::string extensions; // CL_DEVICE_EXTENSIONS: names with spaces between them
  std::string version;    // OpenCL version of the device, as in __OPENCL_VERSION__; empty: not known
};

// Returns the options for clang's command line. Omits options that only some drivers accept.
std::vector<std::string> clangOptions(std::string_view options, const ClDevice &device);

} // namespace msleaks::driver
