#include "analysis/trace/event_leaves.h"

#include "analysis/trace/index_builder.h"

#include <algorithm>

namespace msleaks::analysis::inline trace {

std::optional<EventChunk> StreamPositions::take(const ChunkPlace &place) {
  const ChunkHeader &header = place.header;
  uint64_t &stored_until = stored_until_.of(header.process, header.stream);
  const uint64_t end = header.first_position + header.slots;
  if (end <= stored_until)
    return std::nullopt;
  const uint64_t known = std::max(stored_until, header.first_position) - header.first_position;
  stored_until = end;
  return EventChunk{place, static_cast<uint32_t>(known)};
}

EventLeaves::EventLeaves(const IndexRoot &root) {
  for (const LeafPlace &place : root.leaves)
    if ((place.kinds & kindBit(ChunkKind::Events)) != 0)
      leaves_.push_back({place, 0});
  findDueTimes();
}

EventLeaves::EventLeaves(std::vector<EventChunk> chunks) : chunks_(std::move(chunks)) {
  for (size_t i = 0; i < chunks_.size(); ++i) {
    if (i % kLeafChunks == 0)
      leaves_.push_back({});
    LeafPlace &leaf = leaves_.back().place;
    const ChunkHeader &header = chunks_[i].place.header;
    leaf.first_time_ns = std::min(leaf.first_time_ns, header.first_time_ns);
    leaf.last_time_ns = std::max({leaf.last_time_ns, header.first_time_ns, header.last_time_ns});
  }
  findDueTimes();
}

// Leaves must be read in order, like each stream's chunks. So a leaf is due at the earliest time from it on.
void EventLeaves::findDueTimes() {
  uint64_t due_ns = UINT64_MAX;
  for (size_t i = leaves_.size(); i-- > 0;)
    leaves_[i].due_ns = due_ns = std::min(due_ns, leaves_[i].place.first_time_ns);
}

std::span<const EventChunk> EventLeaves::read(size_t leaf, const InputFile &file, DamageNotes &damage,
                                              std::vector<EventChunk> &buffer) const {
  if (!chunks_.empty())
    return std::span(chunks_).subspan(leaf * kLeafChunks, std::min(kLeafChunks, chunks_.size() - leaf * kLeafChunks));
  std::vector<std::string> notes;
  const LeafPlace &place = leaves_[leaf].place;
  const auto chunks = readLeaf(file, place, notes);
  if (!chunks)
    notes.push_back(chunks.error().message);
  damage.add(place.offset, notes);
  buffer.clear();
  for (const ChunkPlace &chunk : chunks ? *chunks : std::vector<ChunkPlace>{})
    if (chunk.header.kind == ChunkKind::Events)
      buffer.push_back({chunk, 0});
  return buffer;
}

} // namespace msleaks::analysis::inline trace
