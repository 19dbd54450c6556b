// Whole sections, packed and unpacked with libbz2.
#pragma once

#include "analysis/base/result.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace msleaks::analysis::profiles {

// As Python's bz2.compress makes it: level 9.
Result<std::string> packBzip2(std::string_view content);
// Several streams in a row are one content. Fails on anything else, and on more than `most` bytes.
Result<std::string> unpackBzip2(std::span<const uint8_t> packed, uint64_t most);

// One zlib stream, unpacked with libz.
// Fails on what is damaged or ends early, and on more than `most` bytes.
Result<std::string> unpackZlib(std::span<const uint8_t> packed, uint64_t most);

} // namespace msleaks::analysis::profiles
