// Fuzzes the readers of a process's arena and definitions: the collector and `msleaks recover`. The user's program may
// overwrite this shared memory. So the input is a list of patches to a valid arena.
//
// A patch consists of a region, an offset in it (two bytes), a count, and this number of bytes. After the number of a
// region that does not exist, the rest is the file of definitions. After all patches, the written trace must be valid.
#include "arena_maker.h"

#include "analysis/collect/process_collector.h"
#include "analysis/places/site_catalog.h"
#include "analysis/reach/lost_pages.h"
#include "analysis/trace/trace_reader.h"

#include <cstdlib>
#include <fstream>
#include <optional>
#include <span>

namespace msleaks {
namespace {

using namespace test;

constexpr uint64_t kCapacity = 64;

// Reads the input from begin to end, and never past its end.
class Input {
public:
  Input(const uint8_t *bytes, size_t size) : rest_(bytes, size) {}
  bool empty() const { return rest_.empty(); }
  uint8_t byte() { return rest_.empty() ? 0 : take(1)[0]; }
  std::span<const uint8_t> take(size_t count) {
    const auto part = rest_.first(std::min(count, rest_.size()));
    rest_ = rest_.subspan(part.size());
    return part;
  }

private:
  std::span<const uint8_t> rest_;
};

void fill(ArenaMaker &arena) {
  RingMaker first = arena.addRing(kCapacity, 0), second = arena.addRing(kCapacity, 1);
  for (uint64_t i = 0; i < kCapacity / 2; ++i) {
    first.recordAlloc(0x1000 + i * 16, 2000 + i);
    second.recordAlloc(0x9000 + i * 16, 2000 + i);
  }
  second.writeUnpublished(abi::AllocEvent{}); // as if the ring's thread was killed here
  arena.caller(3).image = 1;
  arena.caller(3).address.store(0x1234);
  arena.addPath({0x1234, abi::kPathBegin, 1});
  arena.addPath({7, abi::kFirstPath, abi::kImageOfSite});
}

void patch(ArenaMaker &arena, Input &input) {
  auto *base = reinterpret_cast<uint8_t *>(&arena.header());
  const uint64_t entries = arena.header().rings_offset, callers = arena.header().callers_offset;
  const uint64_t first = arena.entry(0).offset, second = arena.entry(1).offset;
  const uint64_t regions[] = {0,
                              64,
                              entries,
                              callers,
                              first,
                              first + 64,
                              first + abi::kHeaderBytes,
                              second,
                              second + 64,
                              second + abi::kHeaderBytes,
                              arena.header().path_blocks_offset,
                              arena.pathBlock(0).offset};
  while (!input.empty()) {
    const uint8_t region = input.byte();
    if (region >= std::size(regions))
      break;
    const uint64_t offset = input.byte() | uint64_t{input.byte()} << 8;
    const auto bytes = input.take(input.byte() % 32);
    std::memcpy(base + regions[region] + offset % abi::kHeaderBytes, bytes.data(), bytes.size());
  }
  const auto definitions = input.take(SIZE_MAX);
  std::ofstream(arena.definitions(), std::ios::binary)
      .write(reinterpret_cast<const char *>(definitions.data()), static_cast<std::streamsize>(definitions.size()));
}

// Drains the arena into a trace. A live collection drains the arena twice before it finishes. A recovery finishes
// immediately.
void collect(analysis::ArenaReader arena, abi::OnFull policy, bool live, const std::filesystem::path &trace) {
  auto writer = analysis::TraceWriter::create(trace);
  if (!writer)
    std::abort();
  const analysis::ClockModel clock{analysis::ClockLine{}};
  analysis::CollectOutput output{*writer, clock};
  analysis::ProcessCollector collector(1, std::move(arena), policy);
  bool good = collector.start(*writer).has_value();
  for (const auto urgency : {analysis::Urgency::Batch, analysis::Urgency::Everything})
    good = good && (!live || collector.drain(output, urgency, 3000));
  good = good && collector.finish(output, 4000, 0) && writer->close();
  for (const std::string &note : collector.notes())
    good = good && note.find('\n') == std::string::npos;
  if (!good)
    std::abort();
}

void readBack(const std::filesystem::path &file) {
  const auto trace = analysis::TraceReader::open(file);
  uint64_t events = 0;
  if (!trace || !trace->damage().empty() ||
      !trace->forEachEvent([&](const analysis::StreamEvent &) { return ++events > 0; }))
    std::abort();
  analysis::Symbolizer symbolizer;
  analysis::SiteCatalog catalog(symbolizer);
  if (!catalog.load(*trace))
    std::abort();
}

} // namespace
} // namespace msleaks

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  using namespace msleaks;
  analysis::surviveLostPages();
  Input input(bytes, size);
  const uint8_t choice = input.byte();
  const auto policy = choice & 1 ? abi::OnFull::Overwrite : abi::OnFull::Block;
  test::ScratchFolder folder;
  test::ArenaMaker maker(folder.path());
  fill(maker);
  patch(maker, input);
  auto arena = analysis::ArenaReader::open(maker.path());
  if (!arena)
    return arena.error().message.find('\n') == std::string::npos ? 0 : (std::abort(), 0);
  if (*arena) {
    collect(std::move(**arena), policy, (choice & 2) != 0, folder / "trace.mslt");
    readBack(folder / "trace.mslt");
  }
  return 0;
}
