#include "analysis/trace/index_builder.h"

#include <algorithm>
#include <utility>

namespace msleaks::analysis::inline trace {
namespace {

void addToLeaf(IndexBuilder::OpenLeaf &leaf, const ChunkPlace &chunk) {
  LeafPlace &place = leaf.place;
  if (place.chunks == 0)
    place.begin = chunk.offset;
  place.end = chunk.end();
  place.kinds |= kindBit(chunk.header.kind);
  ++place.chunks;
  place.events += chunk.header.events;
  place.first_time_ns = std::min(place.first_time_ns, chunk.header.first_time_ns);
  place.last_time_ns = std::max({place.last_time_ns, place.first_time_ns, chunk.header.last_time_ns});
  leaf.entries.add(chunk);
}

} // namespace

IndexBuilder::IndexBuilder(const ChunkIndex &before) : IndexBuilder() {
  for (const ChunkPlace &place : before.chunks)
    add(place);
  if (!before.root)
    return;
  stored_ = before.root->leaves;
  for (const StreamTotals &totals : before.root->streams)
    streams_.of(totals.process, totals.stream) = {totals.events, totals.repeated, totals.stored_until};
  for (const DefinitionTotals &totals : before.root->definition_bytes)
    definition_bytes_[totals.process] = totals.bytes;
  checkpoints_ = before.root->checkpoints;
}

IndexBuilder::Group IndexBuilder::groupOf(ChunkKind kind) {
  switch (kind) {
  case ChunkKind::Events:
    return kEventChunks;
  case ChunkKind::ProcessStart:
  case ChunkKind::ProcessEnd:
  case ChunkKind::StreamAccount:
    return kOpeningChunks;
  default:
    return kMeaningChunks;
  }
}

void IndexBuilder::addToStream(const ChunkHeader &header) {
  StreamSum &sum = streams_.of(header.process, header.stream);
  sum.events += header.events;
  if (header.first_position < sum.stored_until)
    sum.repeated = 1;
  sum.stored_until = std::max(sum.stored_until, header.first_position + header.slots);
}

void IndexBuilder::add(const ChunkPlace &place) {
  const ChunkHeader &header = place.header;
  if (header.kind == ChunkKind::Index || header.kind == ChunkKind::Trailer)
    return;
  if (header.kind != ChunkKind::Names && !isResident(header.kind))
    checkpoints_.clear();
  if (header.kind == ChunkKind::Events)
    addToStream(header);
  if (header.kind == ChunkKind::Definitions)
    definition_bytes_[header.process] += header.raw_bytes;
  OpenLeaf &leaf = open_[groupOf(header.kind)];
  addToLeaf(leaf, place);
  if (leaf.place.chunks >= leaf_chunks_)
    full_.push_back(std::exchange(leaf, {}));
}

std::vector<const IndexBuilder::OpenLeaf *> IndexBuilder::fullLeaves() const {
  std::vector<const OpenLeaf *> leaves;
  for (const OpenLeaf &leaf : full_)
    leaves.push_back(&leaf);
  return leaves;
}

std::vector<const IndexBuilder::OpenLeaf *> IndexBuilder::allLeaves() const {
  std::vector<const OpenLeaf *> leaves = fullLeaves();
  for (const OpenLeaf &leaf : open_)
    if (leaf.place.chunks > 0)
      leaves.push_back(&leaf);
  return leaves;
}

void IndexBuilder::stored(const std::vector<uint64_t> &offsets) {
  for (const uint64_t offset : offsets) {
    stored_.push_back(full_.front().place);
    stored_.back().offset = offset;
    full_.pop_front();
  }
}

IndexRoot IndexBuilder::root(const std::vector<uint64_t> &offsets) const {
  IndexRoot root{stored_, {}, {}, checkpoints_};
  const std::vector<const OpenLeaf *> rest = allLeaves();
  for (size_t i = 0; i < rest.size(); ++i) {
    root.leaves.push_back(rest[i]->place);
    root.leaves.back().offset = offsets.at(i);
  }
  const auto isThere = [](const StreamSum &sum) { return sum.events != 0 || sum.stored_until != 0; };
  size_t count = 0;
  streams_.forEach([&](uint32_t, uint32_t, const StreamSum &sum) { count += isThere(sum); });
  root.streams.reserve(count);
  streams_.forEach([&](uint32_t process, uint32_t stream, const StreamSum &sum) {
    if (isThere(sum))
      root.streams.push_back({process, stream, sum.events, sum.repeated, sum.stored_until});
  });
  for (const auto &[process, bytes] : definition_bytes_)
    root.definition_bytes.push_back({process, bytes});
  return root;
}

} // namespace msleaks::analysis::inline trace
