// Fuzzes the readers of traces. The first byte chooses whether the bytes stay unchanged, or all chunks get correct
// checksums. With the corrections, the fuzzer also tests the columns of the chunks. Seeds are real traces, which the
// fuzzer writes. The input is stored in a file in memory.
#include "analysis/analyzers/leaks.h"
#include "analysis/analyzers/peak.h"
#include "analysis/stream/pipeline.h"
#include "analysis/trace/chunk.h"
#include "analysis/trace/trace_follower.h"
#include "analysis/trace/trace_reader.h"
#include "named_memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>
#include <vector>

namespace msleaks {
namespace {

using namespace analysis;
using namespace analysis;

// Visits the chunks as a reader does, and corrects the checksums of each header and its payload.
void repairChunks(std::vector<uint8_t> &bytes) {
  const FileHeader file = makeFileHeader();
  if (bytes.size() < sizeof file)
    return;
  std::memcpy(bytes.data(), &file, sizeof file);
  for (size_t at = sizeof file; at + sizeof(ChunkHeader) <= bytes.size();) {
    ChunkHeader header;
    std::memcpy(&header, bytes.data() + at, sizeof header);
    const auto room = static_cast<uint32_t>(bytes.size() - at - sizeof header);
    header.magic = kChunkMagic;
    header.stored_bytes = std::min(header.stored_bytes, room);
    if (header.codec == Codec::None)
      header.raw_bytes = header.stored_bytes;
    // A chunk may have 16,384 events whose columns are all constant. Fewer events test the same, and leave time for
    // other inputs.
    header.events %= 64;
    header.slots = header.events + header.slots % 64;
    header.payload_checksum = checksumOf({bytes.data() + at + sizeof header, header.stored_bytes});
    header.checksum = checksumOf({reinterpret_cast<const uint8_t *>(&header), offsetof(ChunkHeader, checksum)});
    std::memcpy(bytes.data() + at, &header, sizeof header);
    at += sizeof header + header.stored_bytes;
  }
}

// Returns a small trace with each kind of chunk, as a seed.
std::vector<uint8_t> sampleTrace(bool closed) {
  const std::string file = "/tmp/msleaks-trace-seed-" + std::to_string(::getpid());
  {
    auto writer = TraceWriter::create(file);
    if (!writer)
      std::abort();
    std::vector<abi::Slot> slots(24);
    for (size_t i = 0; i < slots.size(); ++i)
      slots[i] = {{i % 3 == 2 ? abi::EventKind::Free : abi::EventKind::Alloc, abi::Heap::Host, 0, 1,
                   static_cast<uint32_t>(i % 5), 1000 + 10 * i},
                  {0x1000 + i % 7 * 64, i % 3 == 2 ? 0 : i}};
    const std::string records(100, 'd');
    const TraceWriter::CallerEntry callers[] = {{1, 2, 3}, {4, 5, 6}};
    bool good = writer->processStart({1, 2, 3, 4, 5, {"a", "b"}}) &&
                writer->definitions(1, std::as_bytes(std::span(records))) && writer->callers(1, callers) &&
                writer->events({1, 0, 0, slots}) && writer->events({1, 1, 5, slots});
    std::swap(slots[3].header.time, slots[9].header.time);
    good = good && writer->completeUntil(1100) && writer->events({1, 0, 20, slots}) &&
           writer->streamAccount({1, 0, 9, "t", 48, 0, 0}) && writer->processEnd({1, 2000, 0, 0}) &&
           (!closed || writer->close());
    if (!good)
      std::abort();
  }
  std::vector<uint8_t> bytes{1};
  FILE *stream = std::fopen(file.c_str(), "rb");
  for (int c; stream && (c = std::fgetc(stream)) != EOF;)
    bytes.push_back(static_cast<uint8_t>(c));
  std::fclose(stream);
  ::unlink(file.c_str());
  return bytes;
}

// Checks what a reader guarantees for any file: times never decrease, the count is right, and windows do not crash.
void readEverything(const TraceReader &reader) {
  uint64_t last_ns = 0, count = 0;
  const auto given = reader.forEachEvent([&](const StreamEvent &event) {
    if (event.event.header().time < last_ns || abi::slotsOf(event.event.header().kind) == 0)
      std::abort();
    last_ns = event.event.header().time;
    return ++count < 100'000;
  });
  if (!given || *given != count)
    std::abort();
  (void)reader.forEachEvent([&](const StreamEvent &event) { return event.event.header().time < 1200; }, 1050, 1200);
  (void)reader.forEachDefinitions([](uint32_t, std::span<const std::byte>) {});
  (void)reader.forEachCallers([](uint32_t, std::span<const TraceWriter::CallerEntry>) {});
}

// Checks the same for a follower, which reads the file as if the file still grew.
void followEverything(const std::string &file) {
  auto follower = TraceFollower::open(file);
  if (!follower)
    std::abort();
  uint64_t last_ns = 0, count = 0;
  for (int round = 0; round < 2; ++round, follower->takeRest())
    for (auto events = follower->next(); events && !events->empty() && count < 100'000; events = follower->next())
      for (const StreamEvent &event : *events) {
        if (event.event.header().time < last_ns)
          std::abort();
        last_ns = event.event.header().time;
        ++count;
      }
}

// Analyses the trace. After finish(), no block may be live.
void analyzeEverything(const TraceReader &reader) {
  Symbolizer symbolizer;
  SiteCatalog catalog(symbolizer);
  if (!catalog.load(reader))
    return;
  LeakAnalyzer leaks;
  PeakAnalyzer peak;
  Pipeline pipeline(catalog, {&peak, &leaks});
  for (const auto &[process, fate] : fatesOf(reader))
    pipeline.expectEnd(process, fate);
  uint64_t count = 0;
  (void)reader.forEachEvent([&](const StreamEvent &event) {
    pipeline.apply(event);
    return ++count < 100'000;
  });
  pipeline.finish();
  (void)leaks.result();
  (void)pipeline.peaks().physical().shares();
  if (pipeline.liveSet().liveBlocks() != 0)
    std::abort();
}

} // namespace
} // namespace msleaks

using namespace msleaks;

extern "C" size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t most);

// Mutates an input. Without a corpus, the first inputs are real traces.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed) {
  static const std::vector<uint8_t> kSamples[] = {sampleTrace(false), sampleTrace(true)};
  const std::vector<uint8_t> &sample = kSamples[seed & 1];
  if (size < 64 && sample.size() <= most) {
    std::memcpy(bytes, sample.data(), sample.size());
    size = sample.size();
  }
  return LLVMFuzzerMutate(bytes, size, most);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size) {
  if (size == 0)
    return 0;
  std::vector<uint8_t> bytes(input + 1, input + size);
  if (input[0] & 1)
    repairChunks(bytes);
  static NamedMemory file;
  const std::string &name = file.store(bytes);
  if (const auto reader = analysis::TraceReader::open(name)) {
    readEverything(*reader);
    analyzeEverything(*reader);
  }
  followEverything(name);
  return 0;
}
