#include "analysis/trace/index_root.h"

#include <array>
#include <bit>

namespace msleaks::analysis::inline trace {
namespace {

// An older reader takes this number for an offset far beyond the end of the file, and so ignores the index.
constexpr uint64_t kNoFlatIndex = UINT64_MAX;

void writeLeaf(const LeafPlace &leaf, uint64_t previous, ByteWriter &to) {
  to.varint(leaf.offset - previous);
  to.varint(leaf.kinds);
  to.varint(leaf.chunks);
  to.varint(leaf.events);
  to.varint(leaf.first_time_ns);
  to.varint(leaf.last_time_ns - leaf.first_time_ns);
  to.varint(leaf.offset - leaf.end);
  to.varint(leaf.end - leaf.begin);
}

LeafPlace readLeafPlace(ByteReader &from, uint64_t previous) {
  LeafPlace leaf;
  leaf.offset = previous + from.varint();
  leaf.kinds = from.varint();
  leaf.chunks = from.varint();
  leaf.events = from.varint();
  leaf.first_time_ns = from.varint();
  leaf.last_time_ns = leaf.first_time_ns + from.varint();
  leaf.end = leaf.offset - from.varint();
  leaf.begin = leaf.end - from.varint();
  return leaf;
}

// Checks a leaf in a root. For each kind, the leaves' parts of the file must follow one another. So even a damaged root
// can cost a reader only one walk through the file for each kind.
class PlausibleLeaves {
public:
  explicit PlausibleLeaves(uint64_t index_begin) : index_begin_(index_begin) { ends_.fill(sizeof(FileHeader)); }
  bool take(const LeafPlace &leaf) {
    const bool plausible = leaf.offset > last_offset_ && leaf.offset < index_begin_ && leaf.kinds != 0 &&
                           leaf.end <= leaf.offset && leaf.begin <= leaf.end && leaf.first_time_ns <= leaf.last_time_ns;
    last_offset_ = leaf.offset;
    return plausible && followsOthers(leaf);
  }

private:
  bool followsOthers(const LeafPlace &leaf) {
    for (ChunkKinds kinds = leaf.kinds; kinds != 0; kinds &= kinds - 1) {
      uint64_t &end = ends_[static_cast<size_t>(std::countr_zero(kinds))];
      if (leaf.begin < end)
        return false;
      end = leaf.end;
    }
    return true;
  }

  uint64_t index_begin_, last_offset_ = 0;
  std::array<uint64_t, 64> ends_; // by kind
};

bool readLeaves(ByteReader &from, uint64_t index_begin, std::vector<LeafPlace> &leaves) {
  PlausibleLeaves plausible(index_begin);
  uint64_t previous = 0;
  for (uint64_t count = from.varint(); count > 0 && !from.failed(); --count) {
    leaves.push_back(readLeafPlace(from, previous));
    if (!plausible.take(leaves.back()))
      return false;
    previous = leaves.back().offset;
  }
  return !from.failed();
}

constexpr size_t kLeastStreamBytes = 4; // a varint for each field takes at least a byte

bool readStreams(ByteReader &from, std::vector<StreamTotals> &streams) {
  uint32_t process = 0;
  uint64_t count = from.varint();
  streams.reserve(std::min<uint64_t>(count, from.left() / kLeastStreamBytes));
  for (; count > 0 && !from.failed(); --count) {
    StreamTotals totals;
    process += static_cast<uint32_t>(from.varint());
    totals.process = process;
    totals.stream = static_cast<uint32_t>(from.varint());
    const uint64_t events = from.varint();
    totals.events = events >> 1;
    totals.repeated = events & 1;
    totals.stored_until = from.varint();
    streams.push_back(totals);
  }
  const auto byNumber = [](const StreamTotals &a, const StreamTotals &b) {
    return std::pair(a.process, a.stream) < std::pair(b.process, b.stream);
  };
  return !from.failed() && std::is_sorted(streams.begin(), streams.end(), byNumber);
}

bool readCheckpoints(ByteReader &from, uint64_t index_begin, std::vector<CheckpointPlace> &checkpoints) {
  CheckpointPlace last;
  for (uint64_t count = from.varint(); count > 0 && !from.failed(); --count) {
    const CheckpointPlace next{last.offset + from.varint(), last.time_ns + from.varint()};
    const bool follows = checkpoints.empty() || (next.offset > last.offset && next.time_ns > last.time_ns);
    if (!follows || next.offset < sizeof(FileHeader) || next.offset >= index_begin)
      return false;
    checkpoints.push_back(last = next);
  }
  return !from.failed();
}

} // namespace

void writeRoot(const IndexRoot &root, ByteWriter &to) {
  to.varint(kNoFlatIndex);
  to.varint(root.leaves.size());
  uint64_t previous = 0;
  for (const LeafPlace &leaf : root.leaves) {
    writeLeaf(leaf, previous, to);
    previous = leaf.offset;
  }
  to.varint(root.streams.size());
  uint32_t process = 0;
  for (const StreamTotals &totals : root.streams) {
    to.varint(totals.process - process);
    to.varint(totals.stream);
    to.varint(totals.events << 1 | (totals.repeated ? 1 : 0));
    to.varint(totals.stored_until);
    process = totals.process;
  }
  to.varint(root.definition_bytes.size());
  for (const DefinitionTotals &totals : root.definition_bytes) {
    to.varint(totals.process);
    to.varint(totals.bytes);
  }
  if (root.checkpoints.empty())
    return;
  to.varint(root.checkpoints.size());
  CheckpointPlace last;
  for (const CheckpointPlace &checkpoint : root.checkpoints) {
    to.varint(checkpoint.offset - last.offset);
    to.varint(checkpoint.time_ns - last.time_ns);
    last = checkpoint;
  }
}

std::optional<IndexRoot> readRoot(std::span<const uint8_t> payload, uint64_t index_begin) {
  ByteReader from(payload);
  IndexRoot root;
  if (from.varint() != kNoFlatIndex || !readLeaves(from, index_begin, root.leaves) || !readStreams(from, root.streams))
    return std::nullopt;
  for (uint64_t count = from.varint(); count > 0 && !from.failed(); --count) {
    const auto process = static_cast<uint32_t>(from.varint());
    root.definition_bytes.push_back({process, from.varint()});
  }
  if (from.left() > 0 && !readCheckpoints(from, index_begin, root.checkpoints)) // older traces have no checkpoints
    return std::nullopt;
  return from.failed() ? std::nullopt : std::optional(std::move(root));
}

} // namespace msleaks::analysis::inline trace
