// Tests that a reader of a damaged trace returns the readable parts, invents no event, and reports the lost parts.
#include "analysis/trace/chunk_index.h"
#include "analysis/trace/event_codec.h"
#include "analysis/trace/metadata.h"
#include "random_events.h"

#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace msleaks::analysis::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

void store(const fs::path &path, std::string_view content) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
}

std::string keyOf(const StreamEvent &event) {
  const size_t bytes = abi::slotsOf(event.event.header().kind) * abi::kSlotBytes;
  return std::to_string(event.process) + "/" + std::to_string(event.stream) + "/" +
         std::string(reinterpret_cast<const char *>(event.event.slots), bytes);
}

// A small trace with chunks of several kinds, the content of its file, and the places of its chunks.
class SmallTrace : public testing::Test {
protected:
  static constexpr size_t kEventsInChunk = 6;
  static constexpr int kEventChunks = 6;

  void SetUp() override {
    auto writer = TraceWriter::create(whole_);
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->processStart({1, 100, 99, 5, 6, {"prog"}}));
    const std::string records(200, 'r');
    ASSERT_TRUE(writer->definitions(1, std::as_bytes(std::span(records))));
    const TraceWriter::CallerEntry caller{1, 2, 3};
    ASSERT_TRUE(writer->callers(1, {&caller, 1}));
    std::mt19937_64 random(7);
    std::array<uint64_t, 2> position{};
    for (uint32_t chunk = 0; chunk < kEventChunks; ++chunk) {
      const uint32_t stream = chunk % 2;
      const auto slots = randomSlots(kEventsInChunk, 1000 + chunk * 1000, random);
      ASSERT_TRUE(writer->events({1, stream, position[stream], slots}));
      position[stream] += slots.size();
      for (const StreamEvent &event : eventsOf(1, stream, slots))
        written_.insert(keyOf(event));
    }
    ASSERT_TRUE(writer->streamAccount({1, 0, 100, "main", 18, 0, 0}));
    ASSERT_TRUE(writer->processEnd({1, 9000, 0, 0}));
    ASSERT_TRUE(writer->close());
    content_ = contentOf(whole_);
    auto file = InputFile::open(whole_);
    chunks_ = readWholeIndex(*file)->chunks;
    ASSERT_EQ(written_.size(), kEventsInChunk * kEventChunks);
  }

  // Reads a file with `content`, and returns the number of events. Each event must be one that was written, and no
  // event may be returned twice.
  size_t readableEvents(std::string_view content, std::vector<std::string> *damage = nullptr) {
    store(broken_, content);
    const auto reader = TraceReader::open(broken_);
    if (!reader) {
      EXPECT_EQ(reader.error().message.find('\n'), std::string::npos);
      EXPECT_EQ(reader.error().status, ExitStatus::BadInput);
      return 0;
    }
    std::set<std::string> seen;
    uint64_t last_ns = 0;
    for (const StreamEvent &event : readAll(*reader)) {
      EXPECT_TRUE(written_.contains(keyOf(event))) << "an event that nobody wrote";
      EXPECT_TRUE(seen.insert(keyOf(event)).second) << "an event twice";
      EXPECT_GE(event.event.header().time, last_ns);
      last_ns = event.event.header().time;
    }
    EXPECT_TRUE(reader->forEachDefinitions([](uint32_t, std::span<const std::byte>) {}));
    reader->forEachAccount([](const StreamAccount &) {});
    EXPECT_TRUE(reader->forEachCallers([](uint32_t, std::span<const TraceWriter::CallerEntry>) {}));
    if (damage)
      *damage = reader->damage();
    return seen.size();
  }

  // Returns the number of events in the chunks that end before `size`.
  size_t eventsBefore(size_t size) const {
    size_t events = 0;
    for (const ChunkPlace &place : chunks_)
      events += place.end() <= size ? place.header.events : 0;
    return events;
  }
  const ChunkPlace *chunkAt(size_t offset) const {
    for (const ChunkPlace &place : chunks_)
      if (place.offset <= offset && offset < place.end())
        return &place;
    return nullptr;
  }

  ScratchFolder folder_;
  fs::path whole_ = folder_ / "whole.mslt", broken_ = folder_ / "broken.mslt";
  std::string content_;
  std::set<std::string> written_;
  std::vector<ChunkPlace> chunks_;
};

// A trace of a kilobyte must not make the reader use a gigabyte of memory, or run for minutes.
TEST(Hostile, SizesThatNoWriterWritesAreNotBelieved) {
  ChunkHeader header;
  header.kind = ChunkKind::ProcessStart;
  header.codec = Codec::Zstd;
  header.stored_bytes = 1 << 20;
  header.raw_bytes = kMaxMetadataRawBytes;
  EXPECT_TRUE(plausibleSizes(header));
  ++header.raw_bytes;
  EXPECT_FALSE(plausibleSizes(header));
  header.kind = ChunkKind::Callers;
  EXPECT_TRUE(plausibleSizes(header));
  header.raw_bytes = kMaxCallersRawBytes + 1;
  EXPECT_FALSE(plausibleSizes(header));
  header.kind = ChunkKind::Definitions;
  EXPECT_TRUE(plausibleSizes(header));
}

TEST(Hostile, AMillionEmptyArgumentsAreRefused) {
  ByteWriter payload;
  for (const uint64_t field : {2, 2, 2})
    payload.varint(field);
  payload.varint(1'000'000);
  for (int i = 0; i < 1'000'000; ++i)
    payload.varint(0);
  ByteReader bytes(payload.written());
  ProcessStart start{};
  visitMetadata(MetadataReader(bytes), start);
  EXPECT_TRUE(bytes.failed());
  EXPECT_TRUE(start.command.empty());
}

TEST(Hostile, ThousandsOfColumnsAreRefused) {
  for (const uint32_t columns : {kMaxColumns, kMaxColumns + 1}) {
    ByteWriter payload;
    payload.varint(columns);
    for (uint32_t i = 0; i < columns; ++i)
      for (const uint64_t byte : {200, 1, 0, 0}) // a kind of a later version, its field 1, Constant, 0
        payload.fixed(static_cast<uint8_t>(byte));
    EventDecoder decoder;
    EXPECT_EQ(decoder.open(payload.written(), 1), columns <= kMaxColumns);
  }
}

TEST_F(SmallTrace, TheWriterKeepsTheLimits) {
  auto writer = TraceWriter::append(whole_);
  ASSERT_TRUE(writer);
  const std::string large(kMaxMetadataRawBytes, 'x');
  const auto refused = writer->processStart({2, 3, 1, 0, 0, {large}});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("process start"));
  EXPECT_TRUE(writer->processStart({2, 3, 1, 0, 0, std::vector<std::string>(5000)}));
  EXPECT_TRUE(writer->close());
  EXPECT_EQ(TraceReader::open(whole_)->processes().at(1).command.size(), kMaxArguments);
}

// A recovery continues after all stored definitions, readable or not. So the reader must count unreadable ones, too.
TEST_F(SmallTrace, CountsDefinitionsThatCannotBeRead) {
  for (const ChunkPlace &place : chunks_)
    if (place.header.kind == ChunkKind::Definitions)
      content_[place.end() - 1] ^= 1;
  store(broken_, content_);
  const auto reader = TraceReader::open(broken_);
  ASSERT_TRUE(reader);
  size_t readable = 0;
  EXPECT_TRUE(
      reader->forEachDefinitions([&](uint32_t, std::span<const std::byte> records) { readable += records.size(); }));
  EXPECT_EQ(readable, 0u);
  EXPECT_EQ(reader->definitionBytes(1), 200u);
  EXPECT_EQ(reader->definitionBytes(2), 0u);
}

TEST_F(SmallTrace, CutAnywhereLosesOnlyWhatWasCut) {
  for (size_t size = 0; size < content_.size(); ++size) {
    std::vector<std::string> damage;
    ASSERT_EQ(readableEvents(std::string_view(content_).substr(0, size), &damage), eventsBefore(size))
        << "cut at " << size;
    const ChunkPlace *torn = size > sizeof(FileHeader) ? chunkAt(size) : nullptr;
    if (torn && torn->offset != size) {
      EXPECT_EQ(damage.size(), 1u) << "cut at " << size;
    }
  }
}

TEST_F(SmallTrace, AnyByteFlippedLosesAtMostItsChunk) {
  for (size_t at = 0; at < content_.size(); ++at)
    for (const uint8_t flip : {0x01, 0x80, 0xff}) {
      std::string content = content_;
      content[at] = static_cast<char>(content[at] ^ flip);
      std::vector<std::string> damage;
      const size_t events = readableEvents(content, &damage);
      const ChunkPlace *hit = chunkAt(at);
      const size_t lost = written_.size() - events;
      ASSERT_LE(lost, hit ? hit->header.events : 0) << "byte " << at;
      if (lost > 0) {
        EXPECT_EQ(damage.size(), 1u) << "byte " << at;
      }
    }
}

// Damages each byte of a trace without an index, one at a time. The reader must find the chunks by their headers, and
// lose only the events of the damaged chunk.
TEST_F(SmallTrace, AnyByteFlippedWithoutIndex) {
  const std::string unclosed = content_.substr(0, chunks_.back().end());
  for (size_t at = sizeof(FileHeader); at < unclosed.size(); ++at) {
    std::string content = unclosed;
    content[at] = static_cast<char>(content[at] ^ 0x10);
    std::vector<std::string> damage;
    const size_t lost = written_.size() - readableEvents(content, &damage);
    ASSERT_EQ(lost, chunkAt(at)->header.events) << "byte " << at;
    EXPECT_EQ(damage.size(), 1u) << "byte " << at;
  }
}

TEST_F(SmallTrace, FindsTheNextChunkBehindForeignBytes) {
  std::mt19937_64 random(3);
  for (const size_t count : {1u, 79u, 80u, 5000u, 300'000u}) {
    std::string noise(count, '\0');
    for (char &byte : noise)
      byte = "MSCK\x1e\xf1\xa3\xc7"[random() % 8]; // the bytes sometimes look like a magic number
    const size_t at = chunks_[5].offset;
    std::vector<std::string> damage;
    const std::string content = content_.substr(0, at) + noise + content_.substr(at, chunks_.back().end() - at);
    EXPECT_EQ(readableEvents(content, &damage), written_.size());
    ASSERT_EQ(damage.size(), 1u);
    EXPECT_THAT(damage[0], HasSubstr("bytes " + std::to_string(at) + " to " + std::to_string(at + count)));
  }
}

TEST_F(SmallTrace, NewerVersionIsNamed) {
  std::string content = content_;
  auto header = makeFileHeader();
  header.format_version = 9;
  header.checksum = checksumOf({reinterpret_cast<const uint8_t *>(&header), 24});
  std::memcpy(content.data(), &header, sizeof header);
  store(broken_, content);
  for (const std::string &message :
       {TraceReader::open(broken_).error().message, TraceWriter::append(broken_).error().message}) {
    EXPECT_THAT(message, HasSubstr("newer msleaks (format 9.2, this one reads up to 1.2)"));
    EXPECT_THAT(message, HasSubstr("use that version or a later one"));
  }
}

TEST_F(SmallTrace, WhatIsNoTraceIsSaidToBeNone) {
  EXPECT_THAT(TraceReader::open(folder_ / "none").error().message, HasSubstr("No such file"));
  EXPECT_THAT(TraceReader::open(folder_.path()).error().message, HasSubstr("not a regular file"));
  store(broken_, "");
  EXPECT_THAT(TraceReader::open(broken_).error().message, HasSubstr("is empty"));
  store(broken_, std::string(100'000, 'x'));
  EXPECT_THAT(TraceReader::open(broken_).error().message, HasSubstr("is not a trace"));
  store(broken_, "short");
  EXPECT_THAT(TraceReader::open(broken_).error().message, HasSubstr("is not a trace"));
  store(broken_, content_.substr(0, 20));
  EXPECT_THAT(TraceReader::open(broken_).error().message, HasSubstr("cut off in its first 20 bytes"));
}

// The last chunk's header is valid, but claims that the 16 stored bytes expand to 1 GiB.
TEST_F(SmallTrace, HugeClaimsAreNotBelieved) {
  ChunkHeader header;
  header.kind = ChunkKind::Definitions;
  header.codec = Codec::Zstd;
  header.raw_bytes = 1u << 30;
  header.stored_bytes = 16;
  header.checksum = checksumOf({reinterpret_cast<const uint8_t *>(&header), 72});
  std::string content = content_.substr(0, chunks_.back().end());
  content.append(reinterpret_cast<const char *>(&header), sizeof header).append(16, 'x');
  std::vector<std::string> damage;
  EXPECT_EQ(readableEvents(content, &damage), written_.size());
  EXPECT_EQ(damage.size(), 1u);
}

// The reader must skip chunks of a kind that only a later version defines.
TEST_F(SmallTrace, UnknownChunkKindIsPassedOver) {
  ChunkHeader header;
  header.kind = static_cast<ChunkKind>(77);
  header.raw_bytes = header.stored_bytes = 3;
  header.checksum = checksumOf({reinterpret_cast<const uint8_t *>(&header), 72});
  const std::string extra = std::string(reinterpret_cast<const char *>(&header), sizeof header) + "abc";
  const std::string content = content_.substr(0, chunks_[4].offset) + extra +
                              content_.substr(chunks_[4].offset, chunks_.back().end() - chunks_[4].offset);
  std::vector<std::string> damage;
  EXPECT_EQ(readableEvents(content, &damage), written_.size());
  ASSERT_EQ(damage.size(), 1u);
  EXPECT_THAT(damage[0], HasSubstr("1 chunks of a kind that this version does not know"));
}

} // namespace
} // namespace msleaks::analysis::test
