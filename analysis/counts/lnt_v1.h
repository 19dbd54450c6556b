// LNT's first format: a pickled dictionary, packed with zlib. LNT reads it by running the pickle; we do not (pickle.h).
#pragma once

#include "analysis/counts/profile.h"

#include <cstdint>
#include <span>

namespace msleaks::analysis::profiles {

// A line is [counters, address, text] as LNT writes it, or [address, counters, text] as its documentation has it.
Result<Profile> readLntV1(std::span<const uint8_t> file);

} // namespace msleaks::analysis::profiles
