// The functions of drivers that msleaks does not know. A new version of a driver may have such functions.
#pragma once

#include "analysis/trace/code_place.h"

#include <string>
#include <string_view>
#include <vector>

namespace msleaks::analysis::inline places {

// Whether the name begins as those of ACL, CUDA, HIP, Level Zero or OpenCL do.
bool isOfDriver(std::string_view symbol);

// Whether a function of a driver allocates, frees, maps, copies, fills or launches by its name, and msleaks does not
// know it. Known functions have a row in the table of functions (abi/functions.h), or are in a list
// (hooks/*/unhooked.txt).
bool isUnknownToHooks(std::string_view symbol);

// Returns these functions of a driver's library, sorted. Empty: the library is of no driver, or cannot be read, or has
// changed since the process loaded it.
std::vector<std::string> unknownFunctionsOf(const ImageFile &library);

} // namespace msleaks::analysis::inline places
