// Tests the readers of graph tables and of files of counts, with whole and damaged data.
#include "table_bytes.h"

#include "analysis/counts/counts_reader.h"

#include <gtest/gtest.h>

namespace msleaks::analysis {
namespace {

using namespace msleaks::test;
using abi::CountsKind;

std::span<const std::byte> bytesOf(const std::string &text) { return std::as_bytes(std::span(text)); }
std::string whyNot(const std::string &file) {
  const auto read = readCounts(bytesOf(file));
  return read ? "" : read.error().message;
}
const std::string kUnit = recordOf(CountsKind::Unit, 1, tableOf());
std::string countersOf(uint64_t first, uint64_t second) {
  return recordOf(CountsKind::Counters, 1, rawOf(first) + rawOf(second));
}

TEST(Counts, ThreadsAreAddedUp) {
  const auto read = readCounts(bytesOf(countsFileOf(kUnit + countersOf(1, 10) + countersOf(2, 20))));
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 1u);
  EXPECT_EQ((*read)[0].counts, (std::vector<uint64_t>{3, 30}));
  const Graph &graph = (*read)[0].module.graphs.at(0);
  EXPECT_EQ(graph.symbol, "work");
  EXPECT_EQ(graph.blocks[0].file, "/src/work.c");
  EXPECT_EQ(graph.blocks[0].line, 4u);
  EXPECT_EQ(graph.blocks[0].text, "ret void");
  EXPECT_EQ(instructionsOf(graph.blocks[0]), 2u);
  EXPECT_EQ(graph.edges.size(), 3u);
}

TEST(Counts, BanksOfAKernelAreKept) {
  std::string table = tableOf();
  table[sizeof(abi::GraphHeader) + offsetof(abi::GraphFunction, flags)] = abi::kKernel;
  abi::GraphHeader header{};
  std::memcpy(&header, table.data(), sizeof header);
  const std::string body = table.substr(sizeof header);
  header.checksum = abi::fnv1a32(reinterpret_cast<const unsigned char *>(body.data()), body.size());
  const std::string unit = recordOf(CountsKind::Unit, 1, rawOf(header) + body);
  const auto read = readCounts(bytesOf(countsFileOf(unit + countersOf(1, 10) + countersOf(2, 20))));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ((*read)[0].counts, (std::vector<uint64_t>{3, 30}));
  EXPECT_EQ((*read)[0].banks, (std::vector<std::vector<uint64_t>>{{1, 10}, {2, 20}}));
  EXPECT_TRUE(readCounts(bytesOf(countsFileOf(kUnit + countersOf(1, 10))))->at(0).banks.empty()) << "threads of a host";
}

TEST(Counts, AFileThatWasCutOffHasWhatIsThere) {
  const std::string file = countsFileOf(kUnit + countersOf(1, 10) + countersOf(2, 20));
  for (size_t size = abi::kCountsHeaderBytes; size <= file.size(); ++size)
    EXPECT_EQ(whyNot(file.substr(0, size)), "") << size;
  // A record without its magic number is incomplete. The reader ignores it and all bytes after it.
  std::string unfinished = file;
  unfinished.replace(abi::kCountsHeaderBytes + sizeof(abi::CountsSlab) + kUnit.size(), 4, 4, '\0');
  const auto read = readCounts(bytesOf(unfinished));
  ASSERT_TRUE(read);
  EXPECT_TRUE((*read)[0].counts.empty());
}

TEST(Counts, SayWhatIsWrong) {
  EXPECT_EQ(whyNot("short"), "it is no file of counts: it has no whole header");
  EXPECT_EQ(whyNot(std::string(5000, 'x')), "it is no file of counts: its magic number is missing");
  EXPECT_EQ(whyNot(countsFileOf(kUnit, 9)), "it is of version 9, this msleaks reads 1");
  EXPECT_EQ(whyNot(countsFileOf(countersOf(1, 2))), "it has counters of a module that it does not describe");
  EXPECT_EQ(whyNot(countsFileOf(kUnit + recordOf(CountsKind::Counters, 1, rawOf(uint64_t{1})))),
            "it has 1 counters of a module with 2: they do not fit its graphs");
}

TEST(Counts, OfOtherGraphsAreRefused) {
  abi::GraphHeader header{};
  std::memcpy(&header, tableOf().data(), sizeof header);
  const std::string counters = rawOf(uint64_t{1}) + rawOf(uint64_t{2});
  const auto fileWith = [&](uint32_t checksum) {
    return countsFileOf(kUnit + recordOf(CountsKind::Counters, 1, counters, checksum));
  };
  EXPECT_EQ(whyNot(fileWith(header.checksum)), "");
  const std::string why = whyNot(fileWith(header.checksum ^ 1));
  EXPECT_NE(why.find("they do not fit its graphs"), std::string::npos) << why;
}

std::string whyNoGraphs(const std::string &table) {
  const auto read = readGraphs(bytesOf(table));
  return read ? "" : read.error().message;
}

TEST(GraphTable, SaysWhatIsWrong) {
  EXPECT_EQ(whyNoGraphs(tableOf()), "");
  EXPECT_EQ(whyNoGraphs("x"), "the table of graphs is cut off within its header");
  EXPECT_NE(whyNoGraphs(tableOf(2, 7)).find("is of version 7, this msleaks knows 1"), std::string::npos);
  // The table has one counter, but an edge refers to a second one.
  EXPECT_EQ(whyNoGraphs(tableOf(1)), "the table of graphs is damaged: a row points outside of it");
  const std::string table = tableOf();
  EXPECT_NE(whyNoGraphs(table.substr(0, table.size() - 8)).find("is cut off"), std::string::npos);
  for (size_t at = sizeof(abi::GraphHeader); at < table.size(); ++at) {
    std::string damaged = table;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
    EXPECT_EQ(whyNoGraphs(damaged), "the table of graphs is damaged: its checksum does not match") << at;
  }
}

TEST(GraphTable, HasTheArgumentsOfAKernel) {
  const std::vector<abi::GraphArgument> rows = {{0, 64, 0, abi::kIsAddress | abi::kReads, {}}, {0, 0, 8, 0, {}}};
  const auto read = readGraphs(bytesOf(tableOf(2, abi::kGraphVersion, rows)));
  ASSERT_TRUE(read);
  ASSERT_EQ(read->graphs.at(0).arguments.size(), 2u);
  EXPECT_EQ(read->graphs[0].arguments[0].end, 64);
  EXPECT_EQ(read->graphs[0].arguments[0].uses, abi::kIsAddress | abi::kReads);
  const std::string table = tableOf(2, abi::kGraphVersion, rows);
  EXPECT_NE(whyNoGraphs(table.substr(0, table.size() - 8)).find("is cut off"), std::string::npos);
}

TEST(GraphTable, MayBeOfAPluginThatKnewNoArguments) {
  const auto read =
      readGraphs(bytesOf(tableOf(2, abi::kGraphVersion, {}, abi::kLeastFunctionBytes, abi::kLeastBlockBytes)));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->graphs.at(0).blocks[0].text, "");
  EXPECT_TRUE(read->graphs.at(0).arguments.empty());
  EXPECT_EQ(read->graphs[0].edges.size(), 3u);
  EXPECT_EQ(whyNoGraphs(tableOf(2, abi::kGraphVersion, {}, abi::kLeastFunctionBytes - 8)),
            "the table of graphs is damaged: its header states impossible sizes");
  const std::vector<abi::GraphArgument> rows(1);
  std::string past = tableOf(2, abi::kGraphVersion, rows);
  constexpr size_t kCount = sizeof(abi::GraphHeader) + offsetof(abi::GraphFunction, argument_count);
  past[kCount] = 2;
  abi::GraphHeader header{};
  std::memcpy(&header, past.data(), sizeof header);
  const std::string body = past.substr(sizeof header);
  header.checksum = abi::fnv1a32(reinterpret_cast<const unsigned char *>(body.data()), body.size());
  EXPECT_EQ(whyNoGraphs(rawOf(header) + body), "the table of graphs is damaged: a row points outside of it");
}

} // namespace
} // namespace msleaks::analysis
