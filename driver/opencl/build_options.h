// The options of a build of OpenCL (clBuildProgram) as clang takes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace msleaks::driver {

// The device for which a driver builds. The driver's compiler knows the device; clang needs it as options.
struct ClDevice {
  std::string extensions; // CL_DEVICE_EXTENSIONS: names with spaces between them
  std::string version;    // version of OpenCL, as in __OPENCL_VERSION__; empty: not known
};

// The words of clang's command line. Options that only some drivers know are left out.
std::vector<std::string> clangOptions(std::string_view options, const ClDevice &device);

} // namespace msleaks::driver
