#include "analysis/places/site_table.h"

#include "table_bytes.h"

#include <gtest/gtest.h>

namespace msleaks::analysis {

using msleaks::test::sampleTable;
using msleaks::test::TableBytes;

namespace {

std::vector<std::byte> bytesOfHex(const std::string &hex) {
  std::vector<std::byte> bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

// A table with one row and no frames. Every field is written by hand, so any change of the layout fails this test.
const std::string kGolden = "4d534c31"
                            "0100"
                            "2800"
                            "80000000"
                            "01000000" // magic, version, header, total, rows
                            "3800"
                            "1000"
                            "00000000"
                            "1e000000" // row, frame sizes, frames, strings
                            "01000000"
                            "00000000"
                            "322a2888" // source, producer
                            "efcdab8967452301"
                            "01000000"
                            "0c000000"
                            "07000000" // id, file, line, column
                            "05000000"
                            "09000000"
                            "10000000"
                            "00000000" // function, callee, type, variable
                            "00000000"
                            "0000"
                            "00"
                            "00"
                            "00"
                            "00000000000000"
                            "00000000"
                            "00"
                            "612e6300"
                            "6d6b6500"
                            "6d616c6c6f6300"
                            "7374727563742074656e736f7200"
                            "0000";

std::vector<std::byte> golden() { return bytesOfHex(kGolden); }

} // namespace

TEST(SiteTableReader, ReadsGoldenBytes) {
  const auto bytes = golden();
  ASSERT_EQ(bytes.size(), 0x80u);
  const auto table = SiteTable::read(bytes);
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->bytes(), 0x80u);
  EXPECT_EQ(table->source(), "a.c");
  ASSERT_EQ(table->sites().size(), 1u);
  const Site &site = table->sites()[0];
  EXPECT_EQ(site.id, 0x0123456789abcdefu);
  EXPECT_EQ(site.file, "a.c");
  EXPECT_EQ(site.line, 12u);
  EXPECT_EQ(site.column, 7u);
  EXPECT_EQ(site.function, "mke");
  EXPECT_EQ(site.callee, "malloc");
  EXPECT_EQ(site.type, "struct tensor");
  EXPECT_EQ(site.variable, "");
  EXPECT_EQ(site.origin, SiteOrigin::Pass);
}

TEST(SiteTableReader, ReadsInlineChains) {
  const auto table = SiteTable::read(sampleTable().build());
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_EQ(table->sites().size(), 3u);
  EXPECT_TRUE(table->sites()[0].inlined_at.empty());
  const auto chain = table->sites()[1].inlined_at;
  ASSERT_EQ(chain.size(), 2u);
  EXPECT_EQ(chain[0].function, "_ZN3net4makeEv");
  EXPECT_EQ(chain[0].line, 40u);
  EXPECT_EQ(chain[1].function, "main");
  EXPECT_EQ(table->sites()[2].file, "");
  EXPECT_EQ(table->sites()[2].line, 0u);
}

TEST(SiteTableReader, StringsOutliveTheBytesAndTheOriginal) {
  SiteTable copy;
  {
    auto bytes = sampleTable().build();
    auto table = SiteTable::read(bytes);
    ASSERT_TRUE(table);
    copy = *table;
    std::fill(bytes.begin(), bytes.end(), std::byte{0});
  }
  EXPECT_EQ(copy.sites()[0].variable, "weights");
  EXPECT_EQ(copy.sites()[1].inlined_at[1].function, "main");
}

TEST(SiteTableReader, ToleratesLongerRowsOfANewerWriter) {
  auto wide = sampleTable();
  wide.header_bytes = 64;
  wide.row_bytes = 72;
  wide.frame_bytes = 24;
  const auto table = SiteTable::read(wide.build());
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_EQ(table->sites().size(), 3u);
  EXPECT_EQ(table->sites()[0].variable, "weights");
  EXPECT_EQ(table->sites()[1].inlined_at[1].line, 90u);
}

TEST(SiteTableReader, ReadsTheCallsOfWrappers) {
  auto with = sampleTable();
  with.frames.push_back({with.text("xmalloc"), with.text("src/util.c"), 40, 13});
  with.frames.push_back({with.text("copied"), with.text("src/copy.c"), 7, 10});
  with.wrappers = 1;
  with.forwards = 1;
  const auto table = SiteTable::read(with.build());
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_EQ(table->wrappers().size(), 1u);
  EXPECT_EQ(table->wrappers()[0], (InlineFrame{"xmalloc", "src/util.c", 40, 13}));
  ASSERT_EQ(table->forwards().size(), 1u);
  EXPECT_EQ(table->forwards()[0], (InlineFrame{"copied", "src/copy.c", 7, 10}));
  with.wrappers = 9;
  EXPECT_FALSE(SiteTable::read(with.build()));
}

TEST(SiteTableReader, AnOldHeaderKnowsNoWrappers) {
  auto old = sampleTable();
  old.header_bytes = abi::kFirstHeaderBytes;
  const auto table = SiteTable::read(old.build());
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->sites()[0].variable, "weights");
  EXPECT_TRUE(table->wrappers().empty());
}

// A later version may add fields after the known ones, and the reader must skip these fields. Any other change of the
// layout would need another magic number.
TEST(SiteTableReader, ReadsWhatItKnowsOfALaterVersion) {
  auto newer = sampleTable();
  newer.version = abi::kObjectVersion + 1;
  newer.row_bytes = 72;
  const auto table = SiteTable::read(newer.build());
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->sites()[0].variable, "weights");
}

TEST(SiteTableReader, RefusesAnotherLayoutInOneLine) {
  auto bytes = sampleTable().build();
  bytes[0] ^= std::byte{1};
  const auto table = SiteTable::read(bytes);
  ASSERT_FALSE(table);
  EXPECT_NE(table.error().message.find("magic number"), std::string::npos);
  EXPECT_EQ(table.error().message.find('\n'), std::string::npos);
  EXPECT_EQ(table.error().status, ExitStatus::BadInput);
}

TEST(SiteTableReader, RefusesEveryTruncation) {
  const auto bytes = sampleTable().build();
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_FALSE(SiteTable::read(cut)) << "cut to " << size << " bytes";
  }
  EXPECT_TRUE(SiteTable::read(bytes));
}

TEST(SiteTableReader, NoticesEveryFlippedByte) {
  const auto good = sampleTable().build();
  for (size_t at = 0; at < good.size(); ++at)
    for (const unsigned flip : {0x01u, 0x80u, 0xffu}) {
      auto bytes = good;
      bytes[at] ^= static_cast<std::byte>(flip);
      const auto table = SiteTable::read(bytes);
      // The checksum covers only the bytes after itself. So three fields of the header may change unnoticed: the
      // unit's own names, `version`, and `first_wrapper`. They do not affect how the other bytes are read.
      const bool names = at >= offsetof(abi::UnitHeader, source) && at < offsetof(abi::UnitHeader, checksum);
      const bool version = at >= offsetof(abi::UnitHeader, version) && at < offsetof(abi::UnitHeader, header_bytes);
      const bool wrappers = at >= offsetof(abi::UnitHeader, first_wrapper) && at < sizeof(abi::UnitHeader);
      const bool harmless = names || version || wrappers;
      if (!harmless && table)
        ADD_FAILURE() << "byte " << at << " flipped by " << flip << " was not noticed";
    }
}

// build() computes the right checksum, so the reader reaches its later checks.
TEST(SiteTableReader, RefusesOffsetsOutsideOfTheTable) {
  const auto expectRefused = [](void (*bend)(TableBytes &), const char *what) {
    auto table = sampleTable();
    bend(table);
    EXPECT_FALSE(SiteTable::read(table.build())) << what;
  };
  expectRefused([](TableBytes &t) { t.rows[0].file = 0x10000; }, "file");
  expectRefused([](TableBytes &t) { t.rows[0].function = UINT32_MAX; }, "function");
  expectRefused([](TableBytes &t) { t.rows[2].variable = static_cast<uint32_t>(t.strings.size()) + 100; }, "variable");
  expectRefused([](TableBytes &t) { t.rows[1].first_frame = 1; }, "chain past the end");
  expectRefused([](TableBytes &t) { t.rows[1].first_frame = UINT32_MAX; }, "chain that wraps");
  expectRefused([](TableBytes &t) { t.frames[0].function = 0x7fffffff; }, "frame's function");
}

TEST(SiteTableReader, RefusesAStringWithoutEnd) {
  TableBytes table;
  abi::SiteRow row{};
  row.file = 1;
  table.rows = {row};
  table.strings.assign("\0abcdef", 7); // 40 + 56 + 7: the padding byte is outside of the strings
  EXPECT_FALSE(SiteTable::read(table.build()));
}

TEST(SiteTableReader, ReadsASectionWithPadding) {
  auto section = std::vector<std::byte>(16);
  const auto first = sampleTable().build(), second = golden();
  section.insert(section.end(), first.begin(), first.end());
  section.resize(section.size() + 24);
  section.insert(section.end(), second.begin(), second.end());
  section.resize(section.size() + 8);
  const auto tables = readSiteTables(section);
  ASSERT_TRUE(tables) << tables.error().message;
  ASSERT_EQ(tables->size(), 2u);
  EXPECT_EQ((*tables)[0].sites().size(), 3u);
  EXPECT_EQ((*tables)[1].source(), "a.c");
  section.push_back(std::byte{7});
  EXPECT_FALSE(readSiteTables(section));
  EXPECT_TRUE(readSiteTables({})->empty());
}

// The reader must read this file of 2 MB quickly, although all of its rows refer to one long string.
TEST(SiteTableReader, OneLongStringCostsOnce) {
  TableBytes table;
  const auto text = table.text(std::string(1 << 20, 'x'));
  for (uint32_t i = 0; i < 20000; ++i) {
    abi::SiteRow row{};
    row.file = row.function = row.callee = row.type = row.variable = text + i;
    table.rows.push_back(row);
  }
  const auto read = SiteTable::read(table.build());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->sites()[3].file.size(), (1u << 20) - 3);
}

} // namespace msleaks::analysis
