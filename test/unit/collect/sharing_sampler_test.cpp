// Tests the samples of shared memory, and the reading of the kernel's text.
#include "analysis/reach/sharing_sampler.h"

#include "analysis/trace/trace_reader.h"

#include "../trace/random_events.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace msleaks::analysis {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr char kRollup[] = "55b3b199f000-7fff36422000 ---p 00000000 00:00 0                          [rollup]\n"
                           "Rss:                1624 kB\nPss:                 230 kB\nPss_Dirty:           112 kB\n"
                           "Shared_Clean:       1472 kB\nShared_Dirty:         10 kB\nPrivate_Clean:        40 kB\n"
                           "Private_Dirty:       112 kB\nReferenced:         1624 kB\n";

TEST(Sharing, IsReadFromTheKernelsText) {
  EXPECT_EQ(parseSharing(kRollup), (Sharing{230 << 10, 152 << 10, 1482 << 10}));
}

TEST(Sharing, IsNotKnownFromOtherTexts) {
  EXPECT_FALSE(parseSharing(""));
  const std::string text = kRollup;
  EXPECT_FALSE(parseSharing(text.substr(0, text.find("Private_Dirty:"))));
  std::string no_number = text;
  no_number.replace(no_number.find("230"), 3, "abc");
  EXPECT_FALSE(parseSharing(no_number));
  std::string too_large = text;
  too_large.replace(too_large.find("230"), 3, "99999999999999999999999");
  EXPECT_FALSE(parseSharing(too_large));
  for (size_t size = 0; size < text.size(); ++size)
    (void)parseSharing(std::string_view(text).substr(0, size)); // reads nothing beyond the end
}

TEST(Sharing, IsKnownOfThisProcess) {
  const test::ScratchFolder folder;
  auto writer = TraceWriter::create(folder / "trace.mslt");
  SharingSampler sampler;
  sampler.add(7, static_cast<uint32_t>(getpid()));
  for (sampler.visit(1); sampler.isReading(); sampler.visit(1)) // a thread of its own reads
    ;
  ASSERT_TRUE(sampler.store(*writer, 1));
  std::vector<SharingSample> samples;
  ASSERT_TRUE(TraceReader::open(folder / "trace.mslt")->forEachSharing([&](std::span<const SharingSample> some) {
    samples.assign(some.begin(), some.end());
  }));
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(samples[0].process, 7u);
  EXPECT_GT(samples[0].pss_bytes, 0u);
  EXPECT_GE(samples[0].private_bytes + samples[0].shared_bytes, samples[0].pss_bytes);
}

TEST(Sharing, IsSampledOnceASecondAndOnlyIfItChanged) {
  std::vector<uint32_t> read;
  SharingSampler sampler(
      [&](uint32_t pid) {
        read.push_back(pid);
        return pid == 2 ? std::string() : std::string(kRollup); // as if process 2 had ended
      },
      std::launch::deferred);
  sampler.visit(1);
  EXPECT_TRUE(read.empty()) << "no process forks";
  sampler.add(1, 1);
  sampler.add(2, 2);
  for (uint64_t ns = kSecondNs; ns < 11 * kSecondNs; ns += kSecondNs / 1000)
    sampler.visit(ns);
  EXPECT_LE(read.size(), 2u * 14);
  EXPECT_GT(read.size(), 2u);
  const test::ScratchFolder folder;
  auto writer = TraceWriter::create(folder / "trace.mslt");
  ASSERT_TRUE(sampler.store(*writer, 1, true));
  size_t samples = 0;
  ASSERT_TRUE(TraceReader::open(folder / "trace.mslt")->forEachSharing([&](std::span<const SharingSample> some) {
    samples += some.size();
  }));
  EXPECT_EQ(samples, 1u);
}

} // namespace
} // namespace msleaks::analysis
