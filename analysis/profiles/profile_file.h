// A file as it lies there, for those who read all of it.
#pragma once

#include "analysis/base/file_access.h"

#include <cstdint>
#include <vector>

namespace msleaks::analysis::profiles {

// Fails on one that is larger than a profile of these formats can be.
Result<std::vector<uint8_t>> wholeFile(const trace::InputFile &);

} // namespace msleaks::analysis::profiles
