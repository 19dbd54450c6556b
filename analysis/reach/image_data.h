// Measures how much of the data of a process' images is a changed copy: variables, and what the loader has filled in.
#pragma once

#include "analysis/reach/process_memory.h"

#include <cstdint>
#include <unordered_map>

namespace msleaks::analysis::inline reach {

class ImageData {
public:
  struct Sums {
    uint64_t begin = 0;         // of the first image
    uint64_t bytes = 0;         // of all mappings with data
    uint64_t changed_bytes = 0; // resident bytes that are no pages of the file
  };
  Sums look(const ProcessMemory &, const std::vector<MappedRange> &);

private:
  uint64_t endOf(const ProcessMemory &, uint64_t begin);

  std::unordered_map<uint64_t, uint64_t> ends_; // of images, by their begin
};

} // namespace msleaks::analysis::inline reach
