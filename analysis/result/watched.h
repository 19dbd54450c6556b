// The history of watched blocks (msl_watch, docs/watch.md).
#pragma once

#include "analysis/places/site_text.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace msleaks::analysis::inline result {

// Whether the operation that changed a block got the block as an argument, or as the destination of a copy or fill.
enum class Given : uint8_t { No, Unknown };
const char *nameOf(Given);

// A watched block has changed, and the operation since the last look did not get the block.
struct WatchLine {
  std::string name;                     // name of the watch
  std::optional<std::string> operation; // name of a range or kernel, "copy" or "fill"; none: no operation
  SiteText site;                        // site of the operation, or of the look
  uint64_t address = 0;                 // address of the block
  uint64_t offset = 0, bytes = 0;       // from the first changed byte to the last one
  std::optional<uint64_t> step;         // the last step that the program reported
  uint64_t time_ns = 0;                 // time of the look, CLOCK_MONOTONIC
  uint32_t process = 0;
  Given given = Given::Unknown;
  uint64_t digest = 0; // digest of the block after the change; 0 = not known
  uint64_t file = 0;   // number of the file with its content (docs/watch.md); 0 = none
};

} // namespace msleaks::analysis::inline result
