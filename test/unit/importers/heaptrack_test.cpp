// Tests that a file of heaptrack becomes a run of msleaks. test/e2e/import reads files that heaptrack has written.
#include "import_fixture.h"

namespace msleaks::analysis {
namespace {

// The name of the function contains an end of a line.
const std::string kFile = "v 10400 3\n"
                          "X ./net --size 7\n"
                          "I 1000 5e298d\n"
                          "s d /home/u/net/t\n"
                          "s 4 main\n"
                          "s e /home/u/net.cp\n"
                          "s 6 gr\now!\n"
                          "i 560e52f2d3b3 1 2 3 9\n"
                          "t 1 0\n"
                          "i 560e52f2d257 1 4 3 7 2 3 8\n"
                          "t 2 1\n"
                          "i 7fc5c9aa57b9 0\n"
                          "t 3 1\n"
                          "a 64 2\n"
                          "a 1f4 3\n"
                          "a 7 0\n"
                          "c 5\n"
                          "+ 0\n"
                          "+ 0\n"
                          "+ 1\n"
                          "- 0\n"
                          "c a\n"
                          "+ 2\n"
                          "- 1\n"
                          "R 3f2\n"
                          "# strings: 4\n"
                          "c b\n";

class HeaptrackImport : public ImportTest {};

} // namespace

TEST_F(HeaptrackImport, ReadsBlocksPathsAndTimes) {
  const Report report = reportOfFile(kFile);
  EXPECT_EQ(report.peak.bytes, 700u);
  EXPECT_EQ(report.leaks.sum.bytes, 107u);
  EXPECT_EQ(report.leaks.sum.count, 2u);
  EXPECT_EQ(report.command, std::vector<std::string>{"./net --size 7"});
  EXPECT_EQ(report.source, "heaptrack 1.4.0");
  EXPECT_EQ(report.start_ns, 5'000'000u);
  ASSERT_FALSE(report.leaks.by_site.empty());
  const LeakLine &leak = report.leaks.by_site.front();
  EXPECT_EQ(leak.site.function, "gr\now!");
  EXPECT_EQ(leak.site.line, 7u);
  ASSERT_EQ(leak.paths.size(), 1u);
  std::vector<std::string> calls;
  for (const auto &call : leak.paths[0].calls)
    calls.push_back(fmt::format("{}:{}", call->file, call->line));
  EXPECT_EQ(calls, (std::vector<std::string>{"/home/u/net.cp:7", "/home/u/net.cp:8", "/home/u/net.cp:9"}));
}

TEST_F(HeaptrackImport, OldFilesHaveNoSizesOfStrings) {
  const Report report = reportOfFile("v 10000 1\nX a\ns /bin/net\ns main of net\ni 10 1 2\nt 1 0\na 10 1\n+ 0\n");
  EXPECT_EQ(report.leaks.sum.bytes, 16u);
  EXPECT_EQ(report.leaks.by_site.front().site.function, "main of net");
}

TEST_F(HeaptrackImport, ACutFileIsThePartBefore) {
  const size_t at = kFile.find("- 0\n") + 1;
  const Report report = reportOfFile(kFile.substr(0, at));
  EXPECT_TRUE(hasNote(report, "was cut"));
  EXPECT_EQ(report.peak.bytes, 700u);
  EXPECT_EQ(report.leaks.sum.bytes, 0u) << "the end is not known";
  EXPECT_TRUE(hasNote(reportOfFile(kFile + "+ 0\ns 5 ab"), "was cut"));
  cutAndChange(kFile, 3);
}

TEST_F(HeaptrackImport, NumbersAreChecked) {
  for (const char *line :
       {"+ 3\n", "- ffffffffffffffff\n", "+ x\n", "t 4 0\n", "t 1 4\n", "t 0 0\n", "a 5 9\n", "s ffffffff x\n"}) {
    const auto report = importedReport(fileOf(kFile + line, "foreign"));
    ASSERT_FALSE(report) << line;
    EXPECT_NE(report.error().message.find("line 29 is damaged"), std::string::npos) << report.error().message;
  }
  const auto report = importedReport(fileOf(kFile + std::string(2 << 20, 'x') + '\n', "foreign"));
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().message.find("line 29 has more than"), std::string::npos) << report.error().message;
  EXPECT_EQ(reportOfFile(kFile + "- 1\n").events.stored, 6u) << "a free without a block";
  EXPECT_EQ(reportOfFile(kFile + "a ffffffffffffffff 1\n+ 3\n+ 3\n").events.stored, 8u);
}

} // namespace msleaks::analysis
