// What an image that is loaded says of itself: read from the process, as its file may have changed.
#pragma once

#include "analysis/collect/process_memory.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace msleaks::analysis {

struct LoadedImage {
  uint64_t load_bias = 0;
  uint64_t end = 0;                // end of its variables, those without a value in the file included; 0 = not known
  uint64_t thread_local_bytes = 0; // of each thread, with its alignment
  std::vector<std::byte> build_id;
};

// `begin`: where byte 0 of its file is mapped. What cannot be read is left as it is.
LoadedImage readImage(const ProcessMemory &, uint64_t begin);

} // namespace msleaks::analysis
