// Tests the collector `fence` on a machine where no driver makes fences. BPF_PROG_TEST_RUN runs its functions on a
// fence in a map. The fence has the kernel's own layout.
#include "kernel/bpf_object.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace msleaks::kernel {
namespace {

// The steps have the same numbers as in fence.bpf.c.
enum class Step : uint64_t { Emit, Signal, Destroy, WaitStart, WaitEnd };

constexpr uint64_t kContext = 0x1234'5678'9abc'def0, kSequence = 0xfedc'ba98'7654'3210;

class FenceTest : public testing::Test {
protected:
  void SetUp() override {
    const Mechanism test{"test", {{"test_fence", {}, false}}};
    Shared shared;
    shared.ring_bytes = 1 << 16;
    shared.settings.wake_bytes = 1 << 12;
    analysis::KernelRefusal refusal;
    object = BpfObject::load(*kindOf("fence"), test, shared, refusal);
    if (!object)
      GTEST_SKIP() << "the kernel refuses the program: " << refusal.reason << ", errno " << refusal.error;
    follow(kFollowed);
  }
  void follow(uint32_t state) {
    const auto pid = static_cast<uint32_t>(getpid());
    ASSERT_EQ(bpf_map_update_elem(object->mapOf("followed"), &pid, &state, BPF_ANY), 0);
  }
  void run(Step step, uint64_t context = kContext, uint64_t sequence = kSequence) {
    const uint64_t arguments[] = {static_cast<uint64_t>(step), context, sequence};
    LIBBPF_OPTS(bpf_test_run_opts, options);
    options.ctx_in = arguments;
    options.ctx_size_in = sizeof arguments;
    ASSERT_EQ(bpf_prog_test_run_opts(object->programOf("test_fence"), &options), 0);
    EXPECT_EQ(options.retval, 0u);
  }
  std::vector<FenceRecord> records() {
    std::vector<FenceRecord> all;
    object->consume([&](const RecordHead &head, size_t bytes) {
      ASSERT_EQ(head.kind, kFenceRecord);
      ASSERT_GE(bytes, sizeof(FenceRecord));
      all.push_back(reinterpret_cast<const FenceRecord &>(head));
    });
    return all;
  }

  std::unique_ptr<BpfObject> object;
};

TEST_F(FenceTest, TheLifeOfAFenceKeepsBothNumbersAndTheOwner) {
  const auto tid = static_cast<uint32_t>(syscall(SYS_gettid));
  run(Step::Emit);
  std::thread([this] { // a driver signals in another thread, or in an interrupt
    run(Step::Signal);
    run(Step::Destroy);
  })
      .join();
  const auto seen = records();
  ASSERT_EQ(seen.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(seen[i].context, kContext);
    EXPECT_EQ(seen[i].sequence, kSequence);
    EXPECT_EQ(seen[i].head.who.tid, tid);
  }
  EXPECT_EQ(seen[0].operation, kEmitted);
  EXPECT_EQ(seen[1].operation, kSignalled);
  EXPECT_EQ(seen[2].operation, kDestroyed);
}

TEST_F(FenceTest, AWaitHasItsTime) {
  run(Step::WaitStart);
  usleep(3000);
  run(Step::WaitEnd);
  const auto seen = records();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].operation, kWaited);
  EXPECT_GE(seen[0].head.end_ns - seen[0].head.begin_ns, 3'000'000u);
  const Counts counts = object->counts();
  EXPECT_EQ(counts.entered, 1u);
  EXPECT_EQ(counts.delivered, 1u);
}

TEST_F(FenceTest, AnEndWithoutABeginSaysSo) {
  run(Step::WaitStart, 1, 1);
  run(Step::WaitEnd, 1, 2);
  const auto seen = records();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].operation, kWaitBeginUnseen);
  EXPECT_EQ(seen[0].head.begin_ns, seen[0].head.end_ns);
  EXPECT_EQ(object->counts().unseen, 1u);
}

TEST_F(FenceTest, FencesOfOthersAreNotRecorded) {
  follow(kUntilExec);
  run(Step::Emit);
  run(Step::WaitStart);
  run(Step::WaitEnd);
  follow(kFollowed);
  run(Step::Signal); // nobody who is followed has emitted it
  EXPECT_TRUE(records().empty());
  EXPECT_EQ(object->counts().entered, 0u);
}

} // namespace
} // namespace msleaks::kernel
