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
  // Functions that isUnknownToHooks (places/driver_functions.h), and that no other library of hooks hooks.
  std::set<std::string> unknown;
};

DriverFunctions driverFunctionsOf(const LibraryFile &, const HookedSymbols &);

} // namespace msleaks::analysis::inline second_run
