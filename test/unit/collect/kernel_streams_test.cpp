// Tests how events of the kernel get into a trace: all of them once, with an account, and late enough to be complete.
#include "analysis/collect/kernel_streams.h"

#include "analysis/trace/trace_reader.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <map>

namespace msleaks::analysis {
namespace {

// Returns at most `at_once` events in a call of take().
class FewAtOnce final : public KernelEvents {
public:
  size_t streams() const override { return 2; }
  std::string_view nameOf(size_t stream) const override { return stream == 0 ? "processes" : "syscalls"; }
  int wakeDescriptor(size_t) const override { return -1; }
  void take(size_t stream, std::vector<abi::Slot> &slots) override {
    for (size_t i = 0; stream == 1 && i < at_once && !waiting.empty(); ++i) {
      abi::SyscallEvent event{};
      event.header = {abi::EventKind::Syscall, abi::Heap::Host, 0, 0, 0, waiting.front()};
      event.continuation = abi::kContinuationTag;
      const abi::AnyEvent any = abi::AnyEvent::from(event);
      slots.insert(slots.end(), any.slots, any.slots + 2);
      waiting.erase(waiting.begin());
    }
  }
  void stop() override { ++stops; }

  std::vector<uint64_t> waiting; // times
  size_t at_once = SIZE_MAX;
  int stops = 0;
};

class KernelStreamsTest : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "msleaks-kernel-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
    writer.emplace(std::move(*TraceWriter::create(folder / "trace.mslt")));
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::filesystem::path folder;
  std::optional<TraceWriter> writer;
  FewAtOnce source;
};

TEST_F(KernelStreamsTest, EveryEventIsStoredOnceWithAnAccount) {
  for (uint64_t i = 1; i <= 1000; ++i)
    source.waiting.push_back(i * 10);
  source.at_once = 7;
  KernelStreams streams(source);
  ASSERT_TRUE(streams.drain(*writer, true, 20'000));
  EXPECT_EQ(streams.stored(), 7u);
  ASSERT_TRUE(streams.finish(*writer));
  EXPECT_EQ(source.stops, 1);
  EXPECT_EQ(streams.stored(), 1000u);
  ASSERT_TRUE(writer->close());
  const auto trace = TraceReader::open(folder / "trace.mslt");
  ASSERT_TRUE(trace);
  uint64_t next_ns = 10;
  ASSERT_TRUE(trace->forEachEvent([&](const StreamEvent &event) {
    EXPECT_EQ(event.event.header().time, next_ns);
    EXPECT_EQ(event.process, kSessionProcess);
    next_ns += 10;
    return true;
  }));
  EXPECT_EQ(next_ns, 10'010u);
  std::map<std::string, uint64_t> accounts;
  trace->forEachAccount([&](const StreamAccount &account) {
    EXPECT_NE(account.stream, 0u) << "the stream of epochs is another one";
    accounts[account.thread_name] = account.produced;
  });
  EXPECT_EQ(accounts, (std::map<std::string, uint64_t>{{"kernel processes", 0}, {"kernel syscalls", 1000}}));
}

// GIVEN few events THEN they wait for a while, and the trace is complete only up to the first of them.
TEST_F(KernelStreamsTest, FewEventsWait) {
  KernelStreams streams(source);
  EXPECT_EQ(streams.completeUntil(5'000), 5'000u);
  source.waiting = {4'000, 3'000};
  EXPECT_EQ(streams.drain(*writer, false, 5'000).value_or(99), 0u);
  EXPECT_EQ(streams.completeUntil(9'000), 3'000u);
  EXPECT_EQ(streams.drain(*writer, false, 400'000'000).value_or(99), 0u);
  EXPECT_EQ(streams.drain(*writer, false, 600'000'000).value_or(99), 2u);
  EXPECT_EQ(streams.completeUntil(700'000'000), 700'000'000u);
}

} // namespace
} // namespace msleaks::analysis
