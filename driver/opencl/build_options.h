// The options of a build of OpenCL (clBuildProgram) as clang takes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace msleaks::driver {

// The device for which a driver builds. Its own compiler knows that; clang has to be told.
struct ClDevice {
  std::string extensions; // CL_DEVICE_EXTENSIONS: names with spaces between them
  std::string version;    // of OpenCL, as __OPENCL_VERSION__ has it; empty: not known
};

// The words of clang's command line. Options that only this driver or that one knows are left out.
std::vector<std::string> clangOptions(std::string_view options, const ClDevice &device);

} // namespace msleaks::driver
