#include "caching_allocator.h"

#include "memory_report.h"

#include <cuda_runtime_api.h>
#include <map>
#include <vector>

namespace {

constexpr size_t kRound = 512, kSegment = 20 << 20;

struct Segment {
  char *begin;
  std::map<size_t, size_t> parts; // offset -> bytes
};
std::vector<Segment> segments;

void report(void *part, int64_t bytes) {
  constexpr c10::Device kDevice{c10::DeviceType::CUDA, 0};
  c10::reportMemoryUsageToProfiler(part, bytes, 0, segments.size() * kSegment, kDevice);
}

// Returns the offset of the first gap that is large enough, or kSegment.
size_t gapIn(const Segment &segment, size_t bytes) {
  size_t end = 0;
  for (const auto &[offset, size] : segment.parts) {
    if (offset - end >= bytes)
      break;
    end = offset + size;
  }
  return end + bytes <= kSegment ? end : kSegment;
}

void *takeFrom(Segment &segment, size_t offset, size_t bytes) {
  segment.parts[offset] = bytes;
  report(segment.begin + offset, static_cast<int64_t>(bytes));
  return segment.begin + offset;
}

} // namespace

void *c10::cuda::allocate(size_t bytes) {
  bytes = (bytes + kRound - 1) / kRound * kRound;
  for (Segment &segment : segments)
    if (const size_t offset = gapIn(segment, bytes); offset != kSegment)
      return takeFrom(segment, offset, bytes);
  void *begin = nullptr;
  if (bytes > kSegment || cudaMalloc(&begin, kSegment) != cudaSuccess)
    return nullptr;
  segments.push_back({static_cast<char *>(begin), {}});
  return takeFrom(segments.back(), 0, bytes);
}

void c10::cuda::free(void *part) {
  for (Segment &segment : segments) {
    const auto found = segment.parts.find(static_cast<size_t>(static_cast<char *>(part) - segment.begin));
    if (found == segment.parts.end())
      continue;
    const auto bytes = static_cast<int64_t>(found->second);
    segment.parts.erase(found);
    return report(part, -bytes);
  }
}

void c10::cuda::emptyCache() {
  std::erase_if(segments,
                [](const Segment &segment) { return segment.parts.empty() && cudaFree(segment.begin) == cudaSuccess; });
}
