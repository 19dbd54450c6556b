#include "arena_maker.h"

#include "analysis/collect/definitions_file.h"
#include "msleaks/abi/definitions.h"
#include "msleaks/abi/site_table.h"

#include <fstream>
#include <gtest/gtest.h>

namespace msleaks::test {
namespace {

using analysis::DefinitionsFile;

std::string record(const std::string &body) {
  abi::DefinitionHeader header{abi::kDefinitionMagic, abi::DefinitionKind::Note, static_cast<uint32_t>(body.size()),
                               abi::fnv1a32(reinterpret_cast<const unsigned char *>(body.data()), body.size())};
  std::string bytes(reinterpret_cast<const char *>(&header), sizeof header);
  bytes += body;
  bytes.resize((bytes.size() + 7) / 8 * 8);
  return bytes;
}

void append(const std::filesystem::path &file, const std::string &bytes) {
  std::ofstream(file, std::ios::app | std::ios::binary) << bytes;
}

std::string text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

TEST(DefinitionsFile, GivesWholeRecordsAsTheyCome) {
  const test::ScratchFolder folder;
  const auto file = folder / "1.1.defs";
  DefinitionsFile definitions(file);
  EXPECT_TRUE(definitions.readNew().empty()); // the file does not exist yet
  append(file, record("one") + record("two"));
  EXPECT_EQ(text(definitions.readNew()), record("one") + record("two"));
  EXPECT_TRUE(definitions.readNew().empty());
  append(file, record("three"));
  EXPECT_EQ(text(definitions.readNew()), record("three"));
  EXPECT_EQ(definitions.unreadBytes(), 0u);
}

TEST(DefinitionsFile, LeavesATornRecordAtEveryLength) {
  const std::string whole = record("first"), torn = record("the second is cut");
  for (size_t length = 0; length < torn.size(); ++length) {
    const test::ScratchFolder folder;
    const auto file = folder / "1.1.defs";
    append(file, whole + torn.substr(0, length));
    DefinitionsFile definitions(file);
    EXPECT_EQ(text(definitions.readNew()), whole);
    EXPECT_TRUE(definitions.readNew().empty());
    EXPECT_EQ(definitions.unreadBytes(), length);
    append(file, torn.substr(length)); // the writer was only slow, and now completes the record
    EXPECT_EQ(text(definitions.readNew()), torn);
  }
}

TEST(DefinitionsFile, StopsAtDamage) {
  const test::ScratchFolder folder;
  const auto file = folder / "1.1.defs";
  std::string damaged = record("second");
  damaged[sizeof(abi::DefinitionHeader)] ^= 1;
  append(file, record("first") + damaged + record("third"));
  DefinitionsFile definitions(file);
  EXPECT_EQ(text(definitions.readNew()), record("first"));
  EXPECT_TRUE(definitions.readNew().empty());
  EXPECT_EQ(definitions.unreadBytes(), damaged.size() + record("third").size());
}

TEST(DefinitionsFile, GoesOnBehindWhatIsStored) {
  const test::ScratchFolder folder;
  const auto file = folder / "1.1.defs";
  append(file, record("stored") + record("new"));
  DefinitionsFile definitions(file, record("stored").size());
  EXPECT_EQ(text(definitions.readNew()), record("new"));
}

TEST(DefinitionsFile, TakesARecordLargerThanOneReading) {
  const test::ScratchFolder folder;
  const auto file = folder / "1.1.defs";
  const std::string large = record(std::string(size_t{9} << 20, 'x'));
  append(file, record("small") + large);
  DefinitionsFile definitions(file);
  std::string all;
  const auto readAll = [&] {
    for (auto bytes = definitions.readNew(); !bytes.empty(); bytes = definitions.readNew())
      all += text(bytes);
  };
  readAll(); // the last record ends exactly at the end of the file
  EXPECT_TRUE(all == record("small") + large);
  append(file, large + record("last"));
  readAll();
  EXPECT_TRUE(all == record("small") + large + large + record("last"));
}

} // namespace
} // namespace msleaks::test
