// Reads LNT's first format: a pickled dictionary, packed with zlib. LNT executes the pickle to read it. This reader
// executes nothing (pickle.h).
#pragma once

#include "analysis/counts/profile.h"

#include <cstdint>
#include <span>

namespace msleaks::analysis::profiles {

// LNT writes a line as [counters, address, text]. LNT's documentation says [address, counters, text]. The reader
// accepts both.
Result<Profile> readLntV1(std::span<const uint8_t> file);

} // namespace msleaks::analysis::profiles
