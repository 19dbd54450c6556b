// Tests how records of kernel launches are read from a file of counts, and which records are refused.
#include "analysis/counts/counts_reader.h"
#include "analysis/counts/edge_counts.h"

#include "msleaks/abi/flags.h"

#include <cstring>
#include <gtest/gtest.h>

namespace msleaks::analysis {
namespace {

template <class T> void append(std::string &bytes, const T &value) {
  bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
}

// Returns the graph table of a kernel "k" with one basic block and a counter at its entry.
std::string table() {
  std::string body;
  append(body, abi::GraphFunction{.hash = 7,
                                  .name = 1,
                                  .file = 0,
                                  .line = 1,
                                  .flags = abi::kKernel,
                                  .first_block = 0,
                                  .block_count = 1,
                                  .first_edge = 0,
                                  .edge_count = 2,
                                  .first_argument = 0,
                                  .argument_count = 0});
  append(body, abi::GraphBlock{});
  append(body, abi::GraphEdge{0, 1, 0, 1, abi::EdgeKind::Enter, 0, 0});
  append(body, abi::GraphEdge{1, 0, abi::kNoCounter, 1, abi::EdgeKind::Exit, 0, 0});
  body.append("\0k\0\0\0\0\0\0", 8);
  abi::GraphHeader header{};
  header.magic = abi::kGraphMagic;
  header.version = abi::kGraphVersion;
  header.header_bytes = sizeof header;
  header.total_bytes = static_cast<uint32_t>(sizeof header + body.size());
  header.counters = header.function_count = header.block_count = 1;
  header.edge_count = 2;
  header.function_bytes = sizeof(abi::GraphFunction);
  header.block_bytes = sizeof(abi::GraphBlock);
  header.edge_bytes = sizeof(abi::GraphEdge);
  header.strings_bytes = 8;
  header.checksum = abi::fnv1a32(reinterpret_cast<const unsigned char *>(body.data()), body.size());
  std::string bytes;
  append(bytes, header);
  return bytes + body;
}

std::string record(abi::CountsKind kind, const std::string &body) {
  std::string bytes;
  append(bytes, abi::CountsRecord::kMagic);
  append(bytes, kind);
  append(bytes, uint32_t{1});
  append(bytes, uint32_t{0});
  append(bytes, uint64_t{body.size()});
  return bytes + body;
}

Result<std::vector<CountedModule>> read(const std::string &launches) {
  std::string counters;
  append(counters, uint64_t{64});
  const std::string records = record(abi::CountsKind::Unit, table()) + record(abi::CountsKind::Counters, counters) +
                              record(abi::CountsKind::Launches, launches);
  std::string file;
  append(file,
         abi::CountsHeader{abi::CountsHeader::kMagic, abi::kCountsVersion, sizeof(abi::CountsHeader), 1, 0, 0, {}});
  append(file, uint64_t{sizeof(abi::CountsSlab) + records.size()});
  file += records;
  return readCounts({reinterpret_cast<const std::byte *>(file.data()), file.size()});
}

const abi::CountedLaunches kLaunches = {.function = 0,
                                        .mode = static_cast<uint32_t>(abi::CountMode::Cta),
                                        .grid = {10, 1, 1},
                                        .block = {64, 1, 1},
                                        .launches = 3,
                                        .counted = 1,
                                        .threads = 1920,
                                        .counted_threads = 640};

std::string sectionOf(const abi::CountedLaunches &launches) {
  std::string bytes;
  append(bytes, launches);
  return bytes;
}

} // namespace

TEST(Launches, AreRead) {
  const auto modules = read(sectionOf(kLaunches));
  ASSERT_TRUE(modules) << modules.error().message;
  ASSERT_EQ(modules->size(), 1u);
  const CountedModule &module = modules->front();
  EXPECT_TRUE(module.module.graphs.at(0).is_kernel);
  ASSERT_EQ(module.launches.size(), 1u);
  EXPECT_EQ(module.launches[0].threads, 1920u);
  const Sample sample{module.launches[0].threads, module.counts.at(0)};
  EXPECT_EQ(sample.scale(), 30);
  EXPECT_EQ(countsOf(module.module.graphs[0], module.counts, sample).calls, 1920u);
}

TEST(Launches, ThatCannotBeAreRefused) {
  const auto expectRefused = [](auto change) {
    abi::CountedLaunches launches = kLaunches;
    change(launches);
    EXPECT_FALSE(read(sectionOf(launches)));
  };
  expectRefused([](auto &launches) { launches.function = 1; });
  expectRefused([](auto &launches) { launches.mode = 4; });
  expectRefused([](auto &launches) { launches.counted = 4; });
  expectRefused([](auto &launches) { launches.counted_threads = 1921; });
  EXPECT_FALSE(read(sectionOf(kLaunches).substr(0, 40)));
}

} // namespace msleaks::analysis
