#include "arena_maker.h"

#include "analysis/reach/arena_reader.h"

#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace msleaks::test {
namespace {

using analysis::ArenaReader;
using test::ArenaMaker;

TEST(ArenaReader, GivesTheFactsOfTheProcess) {
  const test::ScratchFolder folder;
  ArenaMaker maker(folder.path(), {.pid = 42, .attach_ticks = 0xabc, .attach_ns = 77});
  auto arena = ArenaReader::open(maker.path());
  ASSERT_TRUE(arena && *arena);
  const auto &facts = (*arena)->facts();
  EXPECT_EQ(facts.pid, 42u);
  EXPECT_EQ(facts.attach_ticks, 0xabcu);
  EXPECT_EQ(facts.attach_ns, 77u);
  EXPECT_EQ(facts.attach_realtime_ns, 99u);
  EXPECT_EQ(facts.command, (std::vector<std::string>{"demo", "--fast"}));
}

TEST(ArenaReader, WaitsForAnArenaThatIsBeingMade) {
  const test::ScratchFolder folder;
  std::ofstream(folder / "1.1.rings").close();
  auto empty = ArenaReader::open(folder / "1.1.rings");
  ASSERT_TRUE(empty);
  EXPECT_FALSE(*empty);

  ArenaMaker maker(folder.path());
  maker.header().magic = 0;
  auto unfinished = ArenaReader::open(maker.path());
  ASSERT_TRUE(unfinished);
  EXPECT_FALSE(*unfinished);
}

TEST(ArenaReader, TakesNoLinkAndNoFifo) {
  const test::ScratchFolder folder;
  ArenaMaker maker(folder.path());
  std::filesystem::create_symlink(maker.path(), folder / "2.2.rings");
  EXPECT_FALSE(ArenaReader::open(folder / "2.2.rings"));
  ASSERT_EQ(mkfifo((folder / "3.3.rings").c_str(), 0600), 0);
  EXPECT_FALSE(ArenaReader::open(folder / "3.3.rings"));
}

// A fault that makes the arena unusable. For each fault, the reader must return an error message, and must read nothing
// outside the file.
struct HeaderFault {
  const char *name;
  std::function<void(abi::ArenaHeader &)> make;
};

class ArenaHeaderFault : public testing::TestWithParam<HeaderFault> {};

TEST_P(ArenaHeaderFault, IsRefused) {
  const test::ScratchFolder folder;
  ArenaMaker maker(folder.path());
  GetParam().make(maker.header());
  auto arena = ArenaReader::open(maker.path());
  ASSERT_FALSE(arena);
  EXPECT_NE(arena.error().message.find("not a usable arena"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Fields, ArenaHeaderFault,
    testing::Values(HeaderFault{"magic", [](auto &h) { h.magic = 1; }},
                    HeaderFault{"version", [](auto &h) { ++h.session_version; }},
                    HeaderFault{"slot", [](auto &h) { h.slot_bytes = 64; }},
                    HeaderFault{"rings_outside", [](auto &h) { h.rings_offset = ArenaMaker::kFileBytes + 8; }},
                    HeaderFault{"rings_at_the_end_of_numbers", [](auto &h) { h.rings_offset = UINT64_MAX - 7; }},
                    HeaderFault{"rings_unaligned", [](auto &h) { h.rings_offset += 1; }},
                    HeaderFault{"too_many_rings", [](auto &h) { h.max_rings = UINT32_MAX; }},
                    HeaderFault{"callers_outside", [](auto &h) { h.callers_offset = ArenaMaker::kFileBytes; }},
                    HeaderFault{"callers_unaligned", [](auto &h) { h.callers_offset += 4; }},
                    HeaderFault{"large_blocks_outside", [](auto &h) { h.large_blocks_offset = h.rings_offset; }},
                    HeaderFault{"large_blocks_unaligned", [](auto &h) { h.large_blocks_offset = 8; }},
                    HeaderFault{"too_many_callers", [](auto &h) { h.max_callers = UINT32_MAX; }}),
    [](const auto &fault) { return fault.param.name; });

TEST(ArenaReader, BoundsCountsThatMayChangeLater) {
  const test::ScratchFolder folder;
  ArenaMaker maker(folder.path());
  auto arena = ArenaReader::open(maker.path());
  ASSERT_TRUE(arena && *arena);
  maker.header().ring_count = UINT32_MAX;
  EXPECT_EQ((*arena)->ringCount(), 8u);
  EXPECT_FALSE((*arena)->caller(64));
  EXPECT_FALSE((*arena)->caller(UINT32_MAX));
  maker.header().command_bytes = UINT32_MAX;
  auto again = ArenaReader::open(maker.path());
  ASSERT_TRUE(again && *again);
  EXPECT_LE((*again)->facts().command.size(), sizeof(abi::ArenaHeader::command));
}

struct RingFault {
  const char *name;
  std::function<void(abi::RingEntry &, abi::RingHeader &)> make;
};

class ArenaRingFault : public testing::TestWithParam<RingFault> {};

TEST_P(ArenaRingFault, IsRefused) {
  const test::ScratchFolder folder;
  ArenaMaker maker(folder.path());
  auto ring = maker.addRing(64, 0);
  auto arena = ArenaReader::open(maker.path());
  ASSERT_TRUE(arena && *arena);
  EXPECT_TRUE((*arena)->openRing(0));
  GetParam().make(maker.entry(0), ring.header());
  EXPECT_FALSE((*arena)->openRing(0));
}

INSTANTIATE_TEST_SUITE_P(
    Fields, ArenaRingFault,
    testing::Values(RingFault{"outside", [](auto &e, auto &) { e.offset = ArenaMaker::kFileBytes; }},
                    RingFault{"offset_at_the_end_of_numbers", [](auto &e, auto &) { e.offset = UINT64_MAX - 63; }},
                    RingFault{"too_long", [](auto &e, auto &) { e.bytes = UINT64_MAX; }},
                    RingFault{"no_slots", [](auto &e, auto &) { e.bytes = abi::kHeaderBytes; }},
                    RingFault{"empty", [](auto &e, auto &) { e.bytes = 0; }},
                    RingFault{"unaligned", [](auto &e, auto &) { e.offset += 8; }},
                    RingFault{"magic", [](auto &, auto &h) { h.magic = 0; }},
                    RingFault{"capacity_zero", [](auto &, auto &h) { h.capacity = 0; }},
                    RingFault{"capacity_no_power", [](auto &, auto &h) { h.capacity = 48; }},
                    RingFault{"capacity_too_large", [](auto &, auto &h) { h.capacity = 128; }},
                    RingFault{"capacity_overflow", [](auto &, auto &h) { h.capacity = uint64_t{1} << 63; }}),
    [](const auto &fault) { return fault.param.name; });

} // namespace
} // namespace msleaks::test
