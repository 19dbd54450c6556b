#include "trace/stream_plan.h"

#include <algorithm>
#include <map>
#include <utility>

namespace msleaks::analysis::trace {

static void addChunk(StreamPlan &plan, const ChunkPlace &place) {
  const ChunkHeader &header = place.header;
  const uint64_t end = header.first_position + header.slots;
  if (end <= plan.stored_until)
    return; // the collector was killed between storing these events and taking them from the ring
  const uint64_t known = std::max(plan.stored_until, header.first_position) - header.first_position;
  const uint64_t floor = plan.chunks.empty() ? 0 : plan.chunks.back().last_time_ns;
  plan.chunks.push_back({place, static_cast<uint32_t>(known), std::max(header.first_time_ns, floor),
                         std::max(header.last_time_ns, floor)});
  plan.stored_until = end;
}

std::vector<StreamPlan> planStreams(const std::vector<ChunkPlace> &chunks) {
  std::map<std::pair<uint32_t, uint32_t>, size_t> known;
  std::vector<StreamPlan> plans;
  for (const ChunkPlace &place : chunks) {
    if (place.header.kind != ChunkKind::Events)
      continue;
    const auto [entry, fresh] = known.try_emplace({place.header.process, place.header.stream}, plans.size());
    if (fresh)
      plans.push_back({place.header.process, place.header.stream, {}});
    addChunk(plans[entry->second], place);
  }
  std::sort(plans.begin(), plans.end(), [](const StreamPlan &a, const StreamPlan &b) {
    return std::pair(a.process, a.stream) < std::pair(b.process, b.stream);
  });
  return plans;
}

} // namespace msleaks::analysis::trace
