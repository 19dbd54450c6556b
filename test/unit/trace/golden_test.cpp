// Tests the bytes of the trace format. A change of these bytes needs a higher kFormatVersion, unless older readers skip
// the changed bytes.
#include "analysis/trace/checkpoint.h"
#include "analysis/trace/chunk.h"
#include "analysis/trace/event_codec.h"
#include "analysis/trace/meaning.h"
#include "analysis/trace/pointers.h"
#include "random_events.h"

#include "msleaks/abi/session.h"

#include <fstream>

#include <gtest/gtest.h>

namespace msleaks::analysis::test {
namespace {

std::string hexOf(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", static_cast<unsigned char>(c));
    text += two;
  }
  return text;
}

std::string withoutSpaces(std::string_view text) {
  std::string result;
  for (const char c : text)
    if (c != ' ' && c != '\n')
      result += c;
  return result;
}

constexpr char kFileHeader[] = "894d534c540d0a1a 0100 0200 20000000 0000000000000000";
constexpr size_t kFileHeaderBytes = 32;

// Each test writes one record, and compares the bytes that the writer added to the file: the header's fields, then the
// payload. The test computes the checksums itself.
class Golden : public testing::Test {
protected:
  Golden() : file_(folder_ / "trace.mslt") {}

  std::string bytesFrom(size_t offset) const {
    std::ifstream file(file_, std::ios::binary);
    const std::string all{std::istreambuf_iterator<char>(file), {}};
    return all.substr(std::min(offset, all.size()));
  }

  // Checks the chunk at `offset`. `header` are the 64 bytes before the checksums, and `payload` is the whole payload.
  void expectChunk(size_t offset, std::string_view header, std::string_view payload) const {
    const std::string chunk = bytesFrom(offset);
    ASSERT_GE(chunk.size(), sizeof(ChunkHeader));
    EXPECT_EQ(hexOf(chunk.substr(0, 64)), withoutSpaces(header));
    EXPECT_EQ(hexOf(chunk.substr(sizeof(ChunkHeader))), withoutSpaces(payload));
    ChunkHeader parsed;
    std::memcpy(&parsed, chunk.data(), sizeof parsed);
    const auto *bytes = reinterpret_cast<const uint8_t *>(chunk.data());
    EXPECT_EQ(parsed.checksum, checksumOf({bytes, 72}));
    EXPECT_EQ(parsed.payload_checksum, checksumOf({bytes + 80, chunk.size() - 80}));
  }

  ScratchFolder folder_;
  std::filesystem::path file_;
  Result<TraceWriter> writer_ = TraceWriter::create(file_);
};

TEST_F(Golden, FileHeader) {
  const std::string header = bytesFrom(0);
  ASSERT_EQ(header.size(), kFileHeaderBytes);
  EXPECT_EQ(hexOf(header.substr(0, 24)), withoutSpaces(kFileHeader));
  EXPECT_EQ(hexOf(header.substr(24)), "b1dcc7698443d06e"); // XXH3-64 of the bytes before it
}

TEST_F(Golden, ProcessStart) {
  ASSERT_TRUE(writer_->processStart({1, 4711, 4700, 0x1122, 5, {"prog", "-x"}, 7, 9, 65536, 10, {11, 12}}));
  //          magic            kind codec process  stream   events   first position   slots    raw      stored reserved
  //          first time       last time
  expectChunk(
      kFileHeaderBytes,
      "4d53434b1ef1a3c7 0100 0000 01000000 00000000 00000000 0000000000000000 00000000 16000000 16000000 00000000"
      "2211000000000000 2211000000000000",
      "ce49 b849 0a 02 04 70726f67 02 2d78" // pid, parent, realtime: zigzag varints; arguments
      "0e 12 808008 14 16 18");             // pid namespace, exec, bytes of a page, birth, ancestor: pid and time
}

TEST_F(Golden, ProcessEnd) {
  ASSERT_TRUE(writer_->processEnd({2, 0x33, -1, 9, EndReason::Replaced}));
  expectChunk(
      kFileHeaderBytes,
      "4d53434b1ef1a3c7 0200 0000 02000000 00000000 00000000 0000000000000000 00000000 03000000 03000000 00000000"
      "3300000000000000 3300000000000000",
      "01 12 04"); // status -1, 9 events without a ring, reason
}

// Writes processes as versions before 0.2 wrote them: without the fields that were added later.
TEST_F(Golden, ProcessesOfBefore) {
  ByteWriter bytes;
  Compressor compressor;
  const uint8_t start[] = {0xce, 0x49, 0xb8, 0x49, 0x0a, 0x02, 0x04, 0x70, 0x72, 0x6f, 0x67, 0x02, 0x2d, 0x78};
  const uint8_t end[] = {0x01, 0x12};
  bytes.fixed(makeFileHeader());
  packChunk({.kind = ChunkKind::ProcessStart, .process = 1}, start, compressor, bytes);
  packChunk({.kind = ChunkKind::ProcessEnd, .process = 1}, end, compressor, bytes);
  const auto old = folder_ / "old.mslt";
  std::ofstream(old, std::ios::binary)
      .write(reinterpret_cast<const char *>(bytes.written().data()),
             static_cast<std::streamsize>(bytes.written().size()));
  const auto reader = TraceReader::open(old);
  ASSERT_TRUE(reader && reader->damage().empty());
  EXPECT_EQ(reader->processes().at(0).pid, 4711u);
  EXPECT_EQ(reader->processes().at(0).command, (std::vector<std::string>{"prog", "-x"}));
  EXPECT_EQ(reader->processes().at(0).pid_namespace, 0u);
  EXPECT_EQ(reader->processes().at(0).exec_id, 0u);
  EXPECT_EQ(reader->processes().at(0).page_bytes, 0u);
  EXPECT_EQ(reader->processes().at(0).process_birth, 0u);
  EXPECT_EQ(reader->processes().at(0).ancestor.pid, 0u);
  EXPECT_EQ(reader->processEnds().at(0).dropped_no_ring, 9u);
  EXPECT_EQ(reader->processEnds().at(0).reason, EndReason::Ended);
}

TEST_F(Golden, Definitions) {
  const std::string records = "definitions";
  ASSERT_TRUE(writer_->definitions(3, std::as_bytes(std::span(records))));
  expectChunk(
      kFileHeaderBytes,
      "4d53434b1ef1a3c7 0300 0000 03000000 00000000 00000000 0000000000000000 00000000 0b000000 0b000000 00000000"
      "0000000000000000 0000000000000000",
      hexOf(records));
}

TEST_F(Golden, Callers) {
  const TraceWriter::CallerEntry entries[] = {{7, 1, 0x1000}};
  ASSERT_TRUE(writer_->callers(3, entries));
  expectChunk(
      kFileHeaderBytes,
      "4d53434b1ef1a3c7 0400 0000 03000000 00000000 00000000 0000000000000000 00000000 04000000 04000000 00000000"
      "0000000000000000 0000000000000000",
      "0e 02 8040"); // index, image, address: zigzag varints
}

TEST_F(Golden, Paths) {
  const PathEntry entries[] = {{2, abi::kPathBegin, 1, 0x1000}, {3, 2, abi::kImageOfSite, 7}};
  ASSERT_TRUE(writer_->paths(3, entries));
  expectChunk(
      kFileHeaderBytes,
      "4d53434b1ef1a3c7 0b00 0000 03000000 00000000 00000000 0000000000000000 00000000 0c000000 0c000000 00000000"
      "0000000000000000 0000000000000000",
      "02 04 02 8040"      // the first number; how far back the parent is, image, address: zigzag varints
      "02 feffffff1f 0e"); // the same fields of the second entry
}

TEST_F(Golden, Names) {
  const ImageNames names{{"/a", {std::byte{0x11}, std::byte{0x22}}},
                         {{0x1000, {{"in", "/f.c", 7, 3}, {"out", "", 0, 0}}, "fopen"}}};
  ASSERT_TRUE(writer_->names(names));
  expectChunk(
      kFileHeaderBytes,
      "4d53434b1ef1a3c7 0a00 0000 00000000 00000000 00000000 0000000000000000 00000000 20000000 20000000 00000000"
      "0000000000000000 0000000000000000",
      "02 2f61 02 1122"           // path and build id
      "8020 02"                   // address, number of its places
      "02 696e 04 2f662e63 07 03" // function, file, line, column
      "03 6f7574 00 00 00"
      "05 666f70656e"); // the called function
}

// Returns the events of a block's life, and of a copy from the block.
std::vector<abi::Slot> sampleSlots() {
  std::vector<abi::Slot> slots(4);
  slots[0] = {{abi::EventKind::Alloc, abi::Heap::Host, 0, abi::kFromHook, 5, 1000}, {0x10000, 64}};
  slots[1] = {{abi::EventKind::Free, abi::Heap::Host, 0, abi::kFromHook, 6, 1200}, {0x10000, 0}};
  const abi::CopyEvent copy{{abi::EventKind::Copy, abi::Heap::Device, 1, 0, 5, 1201},
                            0x20000,
                            0x10000,
                            abi::kContinuationTag,
                            256,
                            0xabcd,
                            2};
  std::memcpy(&slots[2], &copy, sizeof copy);
  return slots;
}

TEST_F(Golden, EventsPayload) {
  const std::vector<abi::Slot> slots = sampleSlots();
  EventEncoder encoder;
  const auto payload = encoder.encode(slots, measureRun(slots));
  EXPECT_EQ(hexOf({reinterpret_cast<const char *>(payload.data()), payload.size()}),
            withoutSpaces("0c"              // columns; for each: kind, field, encoding, size in bytes or constant
                          "00 00 04 0e"     // tag: Listed
                          "00 01 03 05"     // time: Rise
                          "00 02 04 05"     // site: Listed
                          "01 00 05 04"     // Alloc.address: Recalled
                          "01 01 00 40"     // Alloc.size: Constant
                          "02 00 05 01"     // Free.address
                          "02 01 00 00"     // Free.size
                          "06 00 05 04"     // Copy.destination
                          "06 01 05 01"     // Copy.source
                          "06 02 00 8002"   // Copy.size
                          "06 03 00 cdd702" // Copy.stream: Constant, because there is only one copy
                          "06 04 00 02"     // Copy.direction
                          "00 81808008 00 82808008 00 868404" // three new tags
                          "e807 c801 01"                      // 1000 + 200 + 1 ns
                          "00 05 00 06 01"                    // sites: new, new, the first again
                          "00 808008"                         // new: 0x10000
                          "01"                                // the address that was used last
                          "00 808008"                         // new: 0x10000 more
                          "02"));                             // the address before the last one
}

TEST_F(Golden, EventsHeader) {
  const std::vector<abi::Slot> slots = sampleSlots();
  ASSERT_TRUE(writer_->events({1, 2, 10, std::span(slots).first(1)}));
  expectChunk(
      kFileHeaderBytes,
      "4d53434b1ef1a3c7 0500 0000 01000000 02000000 01000000 0a00000000000000 01000000 1e000000 1e000000 00000000"
      "e803000000000000 e803000000000000",
      "05 00 00 00 81808008 00 01 03 02 00 02 00 05 01 00 05 04 01 01 00 40 e807 00 808008");
}

TEST_F(Golden, StreamAccount) {
  ASSERT_TRUE(writer_->streamAccount({1, 2, 300, "worker", 20, 3, 4}));
  expectChunk(
      kFileHeaderBytes,
      "4d53434b1ef1a3c7 0600 0000 01000000 02000000 00000000 0000000000000000 00000000 0c000000 0c000000 00000000"
      "0000000000000000 0000000000000000",
      "d804 06 776f726b6572 28 06 08"); // thread, name, produced, dropped, stalled
}

TEST_F(Golden, Mark) {
  ASSERT_TRUE(writer_->completeUntil(0x1122));
  expectChunk(
      kFileHeaderBytes,
      "4d53434b1ef1a3c7 0700 0000 00000000 03000000 00000000 0000000000000000 00000000 00000000 00000000 00000000"
      "2211000000000000 2211000000000000",
      "");
}

TEST_F(Golden, IndexAndTrailer) {
  ASSERT_TRUE(writer_->definitions(2, std::as_bytes(std::span("def").first(3))));
  const std::vector<abi::Slot> slots = sampleSlots();
  ASSERT_TRUE(writer_->events({3, 4, 10, std::span(slots).first(1)}));
  const std::string before = bytesFrom(0);
  ASSERT_TRUE(writer_->close());
  const size_t events = kFileHeaderBytes + 80 + 3, leaf = events + 80 + 30;
  ASSERT_EQ(before.size(), leaf);
  const std::string checksum = hexOf(before.substr(events + 64, 8));
  // Fields of an entry: offset since the previous chunk's end, kind, codec, process, stream, events, first position,
  // slots. Then raw bytes, stored bytes, time since the previous chunk's, span of time, and checksum of the payload.
  const size_t eventsLeaf = 80 + 21;
  const auto at = [&](size_t from, size_t size) { return hexOf(bytesFrom(from).substr(0, size)); };
  EXPECT_EQ(at(leaf, 64),
            withoutSpaces("4d53434b1ef1a3c7 0700 0000 00000000 01000000 00000000 0000000000000000 00000000 "
                          "15000000 15000000 00000000 0000000000000000 0000000000000000"));
  EXPECT_EQ(at(leaf + 80, 21), withoutSpaces("73 05 00 03 04 01 0a 01 1e 1e d00f 00") + checksum);
  const size_t definitionsLeaf = leaf + eventsLeaf, root = definitionsLeaf + 80 + 20;
  EXPECT_EQ(at(definitionsLeaf + 80, 12), withoutSpaces("20 03 00 02 00 00 00 00 03 03 00 00"));
  EXPECT_EQ(at(root, 64),
            withoutSpaces("4d53434b1ef1a3c7 0700 0000 00000000 02000000 00000000 0000000000000000 00000000 "
                          "26000000 26000000 00000000 0000000000000000 0000000000000000"));
  EXPECT_EQ(at(root + 80, 38),
            withoutSpaces("ffffffffffffffffff01"        // no flat index
                          "02"                          // leaves; for each: offset since the previous leaf, kinds,
                          "e101 20 01 01 e807 00 00 6e" // chunks, events, first time, span, distance of the leaf from
                          "65 08 01 00 00 00 d301 53"   // the end of its part of the file, bytes of this part
                          "01 03 04 02 0b"              // streams: process, stream, events * 2 + repeated, position
                          "01 02 03"));                 // definitions: process, bytes
  expectChunk(
      root + 80 + 38,
      "4d53434b1ef1a3c7 0800 0000 00000000 00000000 00000000 0000000000000000 00000000 08000000 08000000 00000000"
      "0000000000000000 0000000000000000",
      "aa01000000000000"); // the offset of the root
}

TEST_F(Golden, ResidentMemory) {
  const ResidentSample samples[] = {{3, 0x1000, 40960, 8192, 4096, 64}, {4, 0x1001, 50, 0}};
  ASSERT_TRUE(writer_->resident(samples));
  expectChunk(kFileHeaderBytes,
              "4d53434b1ef1a3c7 0d00 0000 00000000 00000000 00000000 0000000000000000 00000000 13000000 13000000"
              "00000000 0010000000000000 0110000000000000",
              "06 8040 808005 808001 8040 8001" // process, time, bytes, of them files, shared memory, msleaks' own
              "08 02 64 00 00 00");             // time since the previous sample
  std::vector<ResidentSample> read;
  ASSERT_TRUE(TraceReader::open(file_)->forEachResident(
      [&](std::span<const ResidentSample> some) { read.assign(some.begin(), some.end()); }));
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(std::tuple(read[0].shared_bytes, read[0].recorder_bytes), std::tuple(4096u, 64u));
  EXPECT_EQ(std::tuple(read[1].process, read[1].time_ns, read[1].resident_bytes, read[1].file_bytes),
            std::tuple(4u, 0x1001u, 50u, 0u));
}

TEST_F(Golden, SharedMemory) {
  const SharingSample samples[] = {{3, 0x1000, 40960, 8192, 4096}, {4, 0x1001, 50, 0, 7}};
  ASSERT_TRUE(writer_->sharing(samples));
  expectChunk(kFileHeaderBytes,
              "4d53434b1ef1a3c7 1000 0000 00000000 00000000 00000000 0000000000000000 00000000 10000000 10000000"
              "00000000 0010000000000000 0110000000000000",
              "06 8040 808005 808001 8040" // process, time, bytes of pss, private bytes, shared bytes
              "08 02 64 00 0e");           // time since the previous sample
  std::vector<SharingSample> read;
  ASSERT_TRUE(TraceReader::open(file_)->forEachSharing(
      [&](std::span<const SharingSample> some) { read.assign(some.begin(), some.end()); }));
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(std::tuple(read[0].process, read[0].time_ns, read[0].pss_bytes), std::tuple(3u, 0x1000u, 40960u));
  EXPECT_EQ(std::tuple(read[1].time_ns, read[1].private_bytes, read[1].shared_bytes), std::tuple(0x1001u, 0u, 7u));
}

TEST(GoldenOfOlder, ResidentMemoryOfFiles) {
  const uint8_t payload[] = {0x06, 0x80, 0x40, 0x80, 0x80, 0x05, 0x80, 0x80, 0x01, 0x08, 0x02, 0x64, 0x00};
  ByteReader bytes(payload);
  const std::vector<ResidentSample> read = readResident(ChunkKind::ResidentOfFiles, bytes);
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(std::tuple(read[0].process, read[0].time_ns, read[0].resident_bytes, read[0].file_bytes),
            std::tuple(3u, 0x1000u, 40960u, 8192u));
  EXPECT_EQ(std::tuple(read[1].process, read[1].time_ns, read[1].resident_bytes, read[1].shared_bytes),
            std::tuple(4u, 0x1001u, 50u, 0u));
}

TEST_F(Golden, Pointers) {
  PointerPacker packer;
  packer.add({0x1000, 0x7000});
  packer.add({0x1010, 0x6ff0});
  ASSERT_TRUE(writer_->pointers(1, packer.payload()));
  expectChunk(kFileHeaderBytes,
              "4d53434b1ef1a3c7 0e00 0000 01000000 00000000 00000000 0000000000000000 00000000 07000000 07000000"
              "00000000 0000000000000000 0000000000000000",
              "8004 80c003" // words since the previous pointer, difference of the pointers
              "02 1f");
}

TEST_F(Golden, PointerMap) {
  PointerMap map{1, 0x1234, 5, 0x2000, 0, "x", true, {}};
  map.regions = {{0x1000, 0x2000, RegionUse::Globals, 0, {"/p", {std::byte{0xab}}}, 0x400},
                 {0x7000, 0x8000, RegionUse::Stack, 9, {}, 0}};
  ASSERT_TRUE(writer_->pointerMap(map));
  expectChunk(kFileHeaderBytes,
              "4d53434b1ef1a3c7 0f00 0000 01000000 00000000 00000000 0000000000000000 00000000 1c000000 1c000000"
              "00000000 3412000000000000 3412000000000000",
              "05 8040 00 0178 01 02"            // waited, read, pointers, why not, all blocks, regions
              "8020 8020 00 00 022f70 01ab 8008" // distance, bytes, use, thread, image, its id, its bias
              "80a001 8020 02 09");              // a region without an image
  std::shared_ptr<const PointedMemory> read;
  ASSERT_TRUE(TraceReader::open(file_)->forEachPointedMemory([&](auto memory) { read = std::move(memory); }));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->map().time_ns, 0x1234u);
  EXPECT_EQ(read->map().why_not, "x");
  ASSERT_EQ(read->map().regions.size(), 2u);
  EXPECT_EQ(read->map().regions[0].image.path, "/p");
  EXPECT_EQ(read->map().regions[0].load_bias, 0x400u);
  EXPECT_EQ(read->map().regions[1].tid, 9u);
}

TEST_F(Golden, APointerMapWithoutItsPointersSaysSo) {
  PointerMap map;
  map.process = 1;
  map.pointers = 3;
  ASSERT_TRUE(writer_->pointerMap(map));
  std::shared_ptr<const PointedMemory> read;
  ASSERT_TRUE(TraceReader::open(file_)->forEachPointedMemory([&](auto memory) { read = std::move(memory); }));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->map().why_not, "the trace is damaged");
}

TEST_F(Golden, Checkpoint) {
  ASSERT_TRUE(writer_->close());
  const size_t before = bytesFrom(0).size();
  Compressor compressor;
  const uint8_t state[] = {1, 2, 3};
  auto again = TraceWriter::append(file_);
  ASSERT_TRUE(again && again->checkpoint(packCheckpoint(0x1234, 7, state, compressor)));
  expectChunk(before,
              "4d53434b1ef1a3c7 0700 0000 00000000 04000000 00000000 0700000000000000 00000000 03000000 03000000"
              "00000000 3412000000000000 3412000000000000",
              "010203");
  ASSERT_TRUE(again->close());
  const size_t root = before + 80 + 3;
  EXPECT_EQ(hexOf(bytesFrom(root + 80).substr(0, 18)),
            withoutSpaces("ffffffffffffffffff01 00 00 00" // no flat index, leaves, streams, definitions
                          "01 d501 b424"));               // checkpoints: offset, time
}

} // namespace
} // namespace msleaks::analysis::test
