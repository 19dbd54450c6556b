// msmemscope_test.cpp: tests the reader of msMemScope's dumps, and the table that compares two dumps.
#include "analysis/compare/msmemscope_comparison.h"
#include "analysis/compare/msmemscope_dump.h"

#include "dump_text.h"

#include <gtest/gtest.h>
#include <sstream>

namespace msleaks::analysis::compare {
namespace {

class Msmemscope : public testing::Test {
protected:
  Result<MsmemscopeDump> read(const std::string &text, DumpLevel level = DumpLevel::Kernel) {
    std::istringstream in(text);
    return readMsmemscopeDump(in, "dump.csv", level, names);
  }
  MsmemscopeComparison compared(const DumpText &base, const DumpText &other) {
    return compareAsMsmemscope(read(base.text).value_or(MsmemscopeDump{}), read(other.text).value_or(MsmemscopeDump{}));
  }
  std::string tableOf(const DumpText &base, const DumpText &other) {
    return msmemscopeTable(compared(base, other), DumpLevel::Kernel, names);
  }
  // Returns the message for this text, which must be one line and must have the status of an unreadable input.
  std::string refusal(const std::string &text) {
    const auto dump = read(text);
    if (dump)
      return "accepted";
    EXPECT_EQ(dump.error().status, ExitStatus::BadInput);
    EXPECT_EQ(dump.error().message.find('\n'), std::string::npos);
    return dump.error().message;
  }
  NameTable names;
};

constexpr char kHeadLines[] = ",,,Base,Compare\n"
                              "Event,Name,Device Id,Allocated Memory(byte),Allocated Memory(byte),Diff Memory(byte)\n";

TEST_F(Msmemscope, TwelveRows) {
  EXPECT_EQ(tableOf(sixLaunches(), fiveLaunches()), std::string(kHeadLines) + "KERNEL_LAUNCH,N/A,0,7168,7168,0\n"
                                                                              "KERNEL_LAUNCH,N/A,0,3584,3584,0\n"
                                                                              "KERNEL_LAUNCH,N/A,0,3584,3584,0\n"
                                                                              "KERNEL_LAUNCH,N/A,0,1024,1024,0\n"
                                                                              "KERNEL_LAUNCH,N/A,0,512,18944,18432\n"
                                                                              "KERNEL_LAUNCH,N/A,0,18944,N/A,-18944\n"
                                                                              "KERNEL_LAUNCH,N/A,1,7168,7168,0\n"
                                                                              "KERNEL_LAUNCH,N/A,1,3584,3584,0\n"
                                                                              "KERNEL_LAUNCH,N/A,1,3584,3584,0\n"
                                                                              "KERNEL_LAUNCH,N/A,1,-18944,-18944,0\n"
                                                                              "KERNEL_LAUNCH,N/A,1,512,512,0\n"
                                                                              "KERNEL_LAUNCH,N/A,1,512,N/A,-512\n");
  EXPECT_EQ(compared(sixLaunches(), fiveLaunches()).differing, 3u);
}

TEST_F(Msmemscope, ADumpDiffersNotFromItself) {
  EXPECT_EQ(compared(sixLaunches(), sixLaunches()).differing, 0u);
  EXPECT_EQ(compared(sixLaunches(), sixLaunches()).rows.size(), 12u);
}

TEST_F(Msmemscope, StacksHaveNewlinesAndQuotes) {
  const DumpText plain = sixLaunches();
  DumpText stacked;
  stacked.stacks = "\"a.py(3): f\nb.py(9): \"\"g\"\", <lambda>\n\",\"libx.so(+0x1) [0x1]\nliby.so\n\"";
  for (const uint64_t time : {10, 20})
    stacked.launch(time, "0", "k").alloc(time + 1, "0", "5");
  const auto dump = read(stacked.text);
  ASSERT_TRUE(dump) << dump.error().message;
  ASSERT_EQ(dump->size(), 1u);
  EXPECT_EQ(dump->front().launches.size(), 2u);
}

TEST_F(Msmemscope, OrderIsThatOfTimeAndThenOfRows) {
  DumpText dump;
  dump.alloc(30, "0", "3").launch(20, "0", "late").launch(10, "0", "early");
  for (int row = 0; row < 40; ++row) // an unstable sort would change the order of these launches
    dump.launch(50, "0", fmt::format("same {:02}", row));
  const auto read = this->read(dump.text);
  ASSERT_TRUE(read) << read.error().message;
  const auto &launches = read->front().launches;
  ASSERT_EQ(launches.size(), 42u);
  EXPECT_EQ(names[launches[0].name], "early");
  EXPECT_EQ(names[launches[1].name], "late");
  EXPECT_TRUE(launches[0].size == DumpSize{3} && launches[1].size == DumpSize{3});
  for (int row = 0; row < 40; ++row)
    EXPECT_EQ(names[launches[static_cast<size_t>(row) + 2].name], fmt::format("same {:02}", row));
  EXPECT_FALSE(launches[41].size); // no change of the pool follows this launch
}

TEST_F(Msmemscope, HostAndDevicesOfOneSideHaveRows) {
  DumpText base, other;
  base.launch(1, "10", "k").alloc(2, "10", "7").launch(1, "cpu", "k").alloc(2, "cpu", "8").launch(1, "2", "k");
  other.launch(1, "cpu", "k").alloc(2, "cpu", "9");
  EXPECT_EQ(tableOf(base, other), std::string(kHeadLines) + "KERNEL_LAUNCH,k,2,N/A,N/A,0\n"
                                                            "KERNEL_LAUNCH,k,10,7,N/A,-7\n"
                                                            "KERNEL_LAUNCH,k,cpu,8,9,1\n");
  EXPECT_EQ(compared(base, other).differing, 3u);
  EXPECT_EQ(compared(other, base).differing, 3u);
}

TEST_F(Msmemscope, NamesAreWholeAndQuotedWhereTheyMustBe) {
  DumpText base, other;
  base.launch(1, "0", "add<int, 4>(float, int)").alloc(2, "0", "7");
  other.launch(1, "0", "\"add<int, 4>(float, int)\"").alloc(2, "0", "7");
  EXPECT_EQ(tableOf(base, other), std::string(kHeadLines) + "KERNEL_LAUNCH,\"add<int, 4>(float, int)\",0,7,7,0\n");
  DumpText line;
  line.launch(1, "0", "\"two\nlines, \"\"quoted\"\"\"");
  EXPECT_EQ(tableOf(line, line),
            std::string(kHeadLines) + "KERNEL_LAUNCH,\"two\nlines, \"\"quoted\"\"\",0,N/A,N/A,0\n");
  const std::string long_name(4096, 'x');
  EXPECT_EQ(compared(DumpText().launch(1, "0", long_name), DumpText().launch(1, "0", long_name)).differing, 0u);
}

TEST_F(Msmemscope, OperatorsAreALevelOfTheirOwn) {
  DumpText dump;
  dump.launch(1, "0", "kernel").operatorEnd(2, "0", "aten::add").alloc(3, "0", "5");
  const auto operators = read(dump.text, DumpLevel::Operator);
  ASSERT_TRUE(operators && operators->size() == 1 && operators->front().launches.size() == 1);
  EXPECT_EQ(names[operators->front().launches[0].name], "aten::add");
}

TEST_F(Msmemscope, SizesAtTheEdgesOf64Bits) {
  DumpText base, other;
  base.launch(1, "0", "k").alloc(2, "0", "-9223372036854775808");
  other.launch(18446744073709551615u, "0", "k").alloc(18446744073709551615u, "0", "18446744073709551615");
  EXPECT_EQ(tableOf(base, other),
            std::string(kHeadLines) +
                "KERNEL_LAUNCH,k,0,-9223372036854775808,18446744073709551615,27670116110564327423\n");
  for (const char *size : {"18446744073709551616", "-9223372036854775809", "", "12x", "+1", "1e3", "--1"})
    EXPECT_EQ(refusal(DumpText().launch(1, "0").alloc(2, "0", size).text),
              fmt::format("'dump.csv', row 3: its size '{}' is no number of 64 bits", size));
  EXPECT_EQ(refusal(DumpText().add("MALLOC,PTA", "N/A", 1, "0", "{total_size:4,size}").text),
            "'dump.csv', row 2: its column Attr has no size");
}

TEST_F(Msmemscope, BadRowsAreNamed) {
  EXPECT_EQ(refusal(""), "'dump.csv', row 0: the file is empty");
  EXPECT_EQ(refusal("ID,Event,Name\n1,2,3\n"),
            "'dump.csv', row 1: it is not the header of a dump of msMemScope (ID,Event,Event Type,Name,...)");
  const std::string good = sixLaunches().text;
  EXPECT_EQ(refusal(good + "99,MALLOC,PTA,N/A,3"),
            "'dump.csv', row 26: it has 5 cells, and the header has 12: the file was cut, or a quote is missing");
  EXPECT_EQ(refusal(good + "99,MALLOC,PTA,N/A,99,7,7,0,N/A,\"{addr:1,si"),
            "'dump.csv', row 26: the file ends within quotes: it was cut");
  EXPECT_EQ(refusal(good + "99,KERNEL_LAUNCH,KERNEL_LAUNCH,k,1\x1b[2J,7,7,0,N/A,,,\n"),
            "'dump.csv', row 26: its timestamp '1?[2J' is no number below 2^64");
  EXPECT_EQ(refusal(good + "99,KERNEL_LAUNCH,KERNEL_LAUNCH,k,18446744073709551616,7,7,0,N/A,,,\n"),
            "'dump.csv', row 26: its timestamp '18446744073709551616' is no number below 2^64");
}

TEST_F(Msmemscope, EveryCutIsReadOrRefusedInOneLine) {
  const std::string text = sixLaunches().text;
  for (size_t size = 0; size < text.size(); ++size)
    refusal(text.substr(0, size));
}

TEST_F(Msmemscope, OtherEndsOfLinesAreNoDifference) {
  std::string text = "\xef\xbb\xbf";
  for (const char character : sixLaunches().text)
    text += character == '\n' ? std::string("\r\n") : std::string(1, character);
  const auto dump = read(text + "\r\n"), plain = read(sixLaunches().text);
  ASSERT_TRUE(dump) << dump.error().message;
  EXPECT_EQ(compareAsMsmemscope(*plain, *dump).differing, 0u);
}

} // namespace
} // namespace msleaks::analysis::compare
