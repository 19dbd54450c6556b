// Counts the functions that a driver's library exports, and finds those that msleaks does not know.
#pragma once

#include <cstddef>
#include <set>
#include <string>

namespace msleaks::analysis::inline second_run {

class HookedSymbols;
struct LibraryFile;

struct DriverFunctions {
  size_t exported = 0, hooked = 0;
  // These functions have no hook, and are in no list (hooks/*/unhooked.txt). By their names, they allocate, free, map,
  // copy, fill or launch. A new version of the driver may have such functions.
  std::set<std::string> unknown;
};

// Whether the name begins as those of ACL, CUDA, HIP, Level Zero or OpenCL do.
bool isOfDriver(const std::string &symbol);

DriverFunctions driverFunctionsOf(const LibraryFile &, const HookedSymbols &);

} // namespace msleaks::analysis::inline second_run
