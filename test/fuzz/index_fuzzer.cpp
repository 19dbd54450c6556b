// Fuzzes the reader of a trace's index. The first half of the input is a list of edits of the first leaf. The second
// half is a list of edits of the root. An edit is an offset and a byte, or shortens the payload (offset 255). The
// checksums stay correct.
#include "analysis/trace/chunk_index.h"
#include "analysis/trace/index_builder.h"
#include "analysis/trace/trace_reader.h"
#include "named_memory.h"

#include <cstdlib>
#include <vector>

namespace msleaks {
namespace {

using namespace analysis;
using namespace analysis;

std::vector<uint8_t> copyOf(std::span<const uint8_t> bytes) { return {bytes.begin(), bytes.end()}; }

void edit(std::vector<uint8_t> &payload, std::span<const uint8_t> edits) {
  for (; edits.size() >= 2 && !payload.empty(); edits = edits.subspan(2)) {
    if (edits[0] == 255)
      payload.resize(edits[1] % payload.size());
    else
      payload[edits[0] % payload.size()] = edits[1];
  }
}

// Checks that times never decrease, and that a second pass reads as many events as the first.
void readAll(const TraceReader &reader, const TimeWindow &window) {
  uint64_t counts[2] = {};
  for (uint64_t &count : counts) {
    uint64_t last_ns = 0;
    EventCursor cursor = reader.events(window);
    for (auto events = cursor.next(); !events.empty() && count < 100'000; events = cursor.next())
      for (const StreamEvent &event : events) {
        if (event.event.header().time < last_ns)
          std::abort();
        last_ns = event.event.header().time;
        ++count;
      }
  }
  if (counts[0] != counts[1])
    std::abort();
}

class SmallTrace {
public:
  SmallTrace() {
    bytes_.fixed(makeFileHeader());
    const uint8_t payload[] = {3, 0, 0, 4, 6, 1, 1, 1, 0, 5, 1, 0, 0, 0, 1, 2, 3, 4, 5, 6};
    for (uint32_t i = 0; i < 12; ++i) {
      const ChunkKind kind = i % 3 == 2 ? ChunkKind::Callers : ChunkKind::Events;
      const uint32_t events = kind == ChunkKind::Events ? 2 : 0;
      add({.kind = kind,
           .process = 1,
           .stream = i % 2,
           .events = events,
           .first_position = i * 2,
           .slots = events,
           .first_time_ns = 100 * i,
           .last_time_ns = 100 * i + 50},
          payload);
    }
  }
  // Returns the trace with its index. The input changes the first leaf and the root.
  std::span<const uint8_t> withIndex(std::span<const uint8_t> input) {
    const size_t half = input.size() / 2;
    std::vector<uint64_t> offsets;
    for (const IndexBuilder::OpenLeaf *leaf : index_.allLeaves()) {
      std::vector<uint8_t> payload = copyOf(leaf->entries.written());
      if (offsets.empty())
        edit(payload, input.first(half));
      offsets.push_back(pack({.kind = ChunkKind::Index, .stream = static_cast<uint32_t>(IndexLevel::Leaf)}, payload));
    }
    ByteWriter root, trailer;
    writeRoot(index_.root(offsets), root);
    std::vector<uint8_t> payload = copyOf(root.written());
    edit(payload, input.subspan(half));
    trailer.fixed(pack({.kind = ChunkKind::Index, .stream = static_cast<uint32_t>(IndexLevel::Root)}, payload));
    pack({.kind = ChunkKind::Trailer}, trailer.written());
    return bytes_.written();
  }

private:
  uint64_t pack(const ChunkHeader &header, std::span<const uint8_t> payload) {
    const uint64_t offset = bytes_.size();
    packed_ = packChunk(header, payload, compressor_, bytes_);
    return offset;
  }
  void add(const ChunkHeader &header, std::span<const uint8_t> payload) {
    const uint64_t offset = pack(header, payload);
    index_.add({offset, packed_});
  }

  Compressor compressor_;
  ByteWriter bytes_;
  ChunkHeader packed_;
  IndexBuilder index_{5};
};

} // namespace
} // namespace msleaks

using namespace msleaks;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size) {
  SmallTrace trace;
  const std::span<const uint8_t> bytes = trace.withIndex({input, size});
  static NamedMemory file;
  const auto reader = analysis::TraceReader::open(file.store(bytes));
  if (!reader)
    std::abort(); // the reader must accept this file: its header is valid
  readAll(*reader, {});
  readAll(*reader, {150, 700});
  (void)reader->forEachCallers([](uint32_t, std::span<const analysis::TraceWriter::CallerEntry>) {});
  return 0;
}
