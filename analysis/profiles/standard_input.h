// The standard input as a file that can be read anywhere.
#pragma once

#include "analysis/base/file_descriptor.h"
#include "analysis/base/result.h"

namespace msleaks::analysis::profiles {

// All that is piped into the program, copied to a file without a name. An error speaks of the standard input.
Result<FileDescriptor> copyOfStandardInput();

} // namespace msleaks::analysis::profiles
