// Tests the runtime and the real collector in one process: threads record while the collector drains their rings. The
// program has only this test, because a process never changes its session.
//
// The runtime and the collector map the rings at different addresses. So ThreadSanitizer does not find races between
// the two here. The tests in thread_test.cpp and collect/live_test.cpp find them.
#include "analysis/collect/collector.h"
#include "msleaks/runtime/record.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace msleaks::test {
namespace {

constexpr uint64_t kThreads = 3, kGenerations = 5, kCount = 20'000;

void recordNumbered() {
  for (uint64_t i = 0; i < kCount; ++i)
    runtime::recordAlloc(abi::Heap::Host, 0, 1, i + 1, 16);
}

// Starts and ends many threads. Their rings fill up, are replaced by larger ones, end, and are claimed again.
void recordInThreads() {
  for (uint64_t generation = 0; generation < kGenerations; ++generation) {
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < kThreads; ++t)
      threads.emplace_back(recordNumbered);
    for (std::thread &thread : threads)
      thread.join();
  }
}

class Folder {
public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "msleaks-collected-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder &) = delete;
  Folder &operator=(const Folder &) = delete;
  const std::filesystem::path &path() const { return path_; }

private:
  std::filesystem::path path_;
};

TEST(Collected, EveryEventWhileItIsRecorded) {
  const Folder folder;
  analysis::SessionWish wish;
  wish.place = analysis::SessionDir::propose(folder.path());
  wish.clock = abi::ClockKind::Tsc;
  wish.enabled = ~abi::kKernelEvidence;
  wish.flags.on_full = abi::OnFull::Block;
  wish.flags.block_timeout_ms = 60'000; // on a busy machine, the collector's thread may wait long for a processor
  wish.flags.ring_kib = 16;
  wish.flags.ring_max_kib = 64;
  auto session = analysis::SessionDir::create(wish);
  ASSERT_TRUE(session) << session.error().message;
  auto trace = analysis::TraceWriter::create(folder.path() / "trace.mslt");
  ASSERT_TRUE(trace) << trace.error().message;
  setenv(abi::kSessionVariable, session->path().c_str(), 1);
  analysis::Collector collector(*session, std::move(*trace));
  collector.programStarted(static_cast<uint32_t>(getpid()));
  std::thread collecting([&collector] { collector.run(); });
  recordInThreads();
  collector.programEnded(0);
  collecting.join();
  ASSERT_FALSE(collector.summary().failure) << collector.summary().failure->message;
  EXPECT_EQ(collector.summary().notes, std::vector<std::string>());
  EXPECT_EQ(collector.summary().totals.produced, kThreads * kGenerations * kCount);
  EXPECT_EQ(collector.summary().totals.stored, kThreads * kGenerations * kCount);
  EXPECT_EQ(collector.summary().totals.dropped, 0u);
}

} // namespace
} // namespace msleaks::test
