// The history of watched blocks (msl_watch, docs/watch.md).
#pragma once

#include "analysis/places/site_text.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace msleaks::analysis::inline result {

// Whether the operation that changed a block was given it: by an argument, or as the destination of a copy or fill.
enum class Given : uint8_t { No, Unknown };
const char *nameOf(Given);

// A watched block is not what it was, and the operation since the look before was not given it.
struct WatchLine {
  std::string name;                     // of the watch
  std::optional<std::string> operation; // a range's or kernel's name, "copy" or "fill"; none: not within one
  SiteText site;                        // of the operation, or of the look
  uint64_t address = 0;                 // of the block
  uint64_t offset = 0, bytes = 0;       // from the first byte that has changed to the last one
  std::optional<uint64_t> step;         // the last one that the program has said
  uint64_t time_ns = 0;                 // time of the look, CLOCK_MONOTONIC
  uint32_t process = 0;
  Given given = Given::Unknown;
  uint64_t digest = 0; // digest of the block after the change; 0 = not told
  uint64_t file = 0;   // of its content (docs/watch.md); 0 = there is none
};

} // namespace msleaks::analysis::inline result
