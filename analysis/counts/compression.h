// Packs and unpacks whole contents, with libbz2 or zlib.
#pragma once

#include "analysis/base/result.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace msleaks::analysis::profiles {

// Packs with level 9, as Python's bz2.compress does.
Result<std::string> packBzip2(std::string_view content);
// Unpacks the content of one stream, or of several streams in a row. Fails on anything else, and on more than `most`
// bytes.
Result<std::string> unpackBzip2(std::span<const uint8_t> packed, uint64_t most);

// Unpacks one zlib stream. Fails if the stream is damaged or ends early, and on more than `most` bytes.
Result<std::string> unpackZlib(std::span<const uint8_t> packed, uint64_t most);

} // namespace msleaks::analysis::profiles
