// One zlib stream, unpacked with libz.
#pragma once

#include "analysis/base/result.h"

#include <cstdint>
#include <span>
#include <string>

namespace msleaks::analysis::profiles {

// Fails on what is damaged or ends early, and on more than `most` bytes.
Result<std::string> unpackZlib(std::span<const uint8_t> packed, uint64_t most);

} // namespace msleaks::analysis::profiles
