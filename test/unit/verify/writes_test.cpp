// Tests which blocks a finding is about, and the verdict that follows from writes into these blocks.
#include "analysis/collect/watch_option.h"
#include "analysis/result/finding_kinds.h"
#include "analysis/second_run/writes.h"

#include <gtest/gtest.h>

namespace msleaks::analysis {
namespace {

Finding trampled(std::string block, std::string operation) {
  Finding finding;
  setKind(finding, finding_kinds::kTrampled);
  finding.heap = abi::Heap::Host;
  finding.evidence = {
      {"block", std::move(block)}, {"operation", std::move(operation)}, {"block_bytes", uint64_t{2048}}};
  return finding;
}

std::vector<SiteText> calls(uint32_t line, uint64_t offset = 0) {
  SiteText instruction, call;
  instruction.library = "/lib/x86_64-linux-gnu/libc.so.6";
  instruction.offset = offset;
  call.file = "train.c";
  call.line = line;
  return {instruction, call};
}

Write within(uint64_t begin, uint64_t end) {
  Write write;
  write.bytes = {begin, end};
  write.is_within = true;
  write.operation = "relu";
  return write;
}

WriteSum sumOf(const Writes &writes) { return {1, 2048, 1, false, writes.paths(16)}; }

Outcome outcome(const WriteSum &sum) { return judgeWrites(trampled("weights", "relu"), sum).outcome; }

TEST(Writes, AreAddedUpByTheirCalls) {
  Writes writes;
  writes.add(within(8, 9), calls(1));
  writes.add(within(16, 17), calls(2));
  writes.add(within(4, 5), calls(1, 16));
  const auto paths = writes.paths(16);
  ASSERT_EQ(paths.size(), 2u);
  EXPECT_EQ(paths[0].writes, 2u);
  EXPECT_EQ(paths[0].begin, 4u);
  EXPECT_EQ(paths[0].end, 9u);
  EXPECT_EQ(writes.paths(1).size(), 1u);
}

TEST(Writes, OfTheOperationProveIt) {
  Writes writes;
  Write other = within(0, 1);
  other.is_within = false;
  other.operation = "sgd";
  writes.add(other, calls(1));
  EXPECT_EQ(outcome(sumOf(writes)), Outcome::Refuted);
  Write call = within(0, 1);
  call.by_call = call.given = true;
  writes.add(call, calls(2));
  EXPECT_EQ(outcome(sumOf(writes)), Outcome::Unknown);
  writes.add(within(0, 1), calls(3));
  EXPECT_EQ(outcome(sumOf(writes)), Outcome::Proved);
  EXPECT_EQ(sumOf(writes).paths.front().calls.back().line, 3u);
}

TEST(Writes, NoneRefutesOnlyWhereAllWereSeen) {
  WriteSum sum = sumOf({});
  EXPECT_EQ(outcome(sum), Outcome::Refuted);
  sum.incomplete = true;
  EXPECT_EQ(outcome(sum), Outcome::Unknown);
  sum = sumOf({});
  sum.operations = 0;
  EXPECT_EQ(outcome(sum), Outcome::Unknown);
  EXPECT_EQ(judgeWrites(trampled("weights", ""), sum).outcome, Outcome::Refuted); // the write was outside of all ranges
  sum = sumOf({});
  sum.blocks = 0;
  EXPECT_EQ(outcome(sum), Outcome::Unknown);
}

TEST(WriteQuestion, AsTheFirstRunWatched) {
  const WriteQuestion named = questionOf(trampled("weights", "relu"), {});
  EXPECT_EQ(named.name, "weights");
  EXPECT_TRUE(named.is_told);
  EXPECT_EQ(named.operation, "relu");
  EXPECT_EQ(toldBytes(named), "0");
  const WriteQuestion nameless = questionOf(trampled("0x7f00", ""), {});
  EXPECT_FALSE(nameless.name);
  EXPECT_EQ(nameless.bytes, 2048u);
}

TEST(WriteQuestion, ABlockOfALineOrAnAddress) {
  const std::vector<std::string> line{"-o", "run", "--watch=train.c:31"}, short_one{"--watch", "train.c:31:2048"};
  const WriteQuestion whole = questionOf(trampled("train.c", "relu"), watchOf(line));
  EXPECT_FALSE(whole.is_told);
  EXPECT_EQ(toldBytes(whole), "2048-2048");
  EXPECT_EQ(toldBytes(questionOf(trampled("train.c", "relu"), watchOf(short_one))), "2048-18446744073709551615");
  const std::vector<std::string> address{"--watch", "0x7f00", "--events", "alloc"};
  EXPECT_FALSE(questionOf(trampled("0x7f00", "relu"), watchOf(address)).is_told);
  EXPECT_TRUE(questionOf(trampled("0x7f10", "relu"), watchOf(address)).is_told);
  EXPECT_EQ(watchOf(std::vector<std::string>{"--watch"}).kind, abi::WatchKind::None);
}

} // namespace
} // namespace msleaks::analysis
