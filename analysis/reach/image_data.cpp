#include "analysis/reach/image_data.h"

#include <algorithm>

namespace msleaks::analysis::inline reach {

// The headers of an image do not change.
uint64_t ImageData::endOf(const ProcessMemory &memory, uint64_t begin) {
  const auto [end, is_new] = ends_.try_emplace(begin);
  if (is_new)
    end->second = readImage(memory, begin).end;
  return end->second;
}

// Variables without a value in the file are in anonymous memory, directly after the other variables.
ImageData::Sums ImageData::look(const ProcessMemory &memory, const std::vector<MappedRange> &ranges) {
  Sums sums;
  uint64_t begin = 0;
  const MappedRange *before = nullptr;
  for (const MappedRange &range : ranges) {
    const bool is_of_file = range.path.starts_with('/') && !range.path.starts_with("/dev/");
    if (is_of_file && range.file_offset == 0)
      begin = range.begin;
    const bool is_continued = before && before->end == range.begin && before->path.starts_with('/') && before->writable;
    uint64_t end = is_of_file && !range.executable ? range.end : 0;
    if (range.isAnonymous() && range.writable && is_continued)
      end = std::min(range.end, (endOf(memory, begin) + memory.pageBytes() - 1) & ~(memory.pageBytes() - 1));
    before = &range;
    if (end <= range.begin)
      continue;
    sums.begin = sums.begin == 0 ? range.begin : sums.begin;
    sums.bytes += end - range.begin;
    sums.changed_bytes += memory.anonymousBytes(range.begin, end);
  }
  return sums;
}

} // namespace msleaks::analysis::inline reach
