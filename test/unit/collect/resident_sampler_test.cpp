// Tests the times at which the memory use of processes is sampled, and the samples that are stored in the trace.
#include "analysis/reach/resident_sampler.h"

#include "analysis/trace/trace_reader.h"

#include "../trace/random_events.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace msleaks::analysis {
namespace {

constexpr uint64_t kMs = 1'000'000, kArena = 8192;

class ResidentSamplerTest : public testing::Test {
protected:
  // Calls the sampler every 5 ms, as the collector does.
  void run(uint64_t until_ms, uint32_t processes) {
    for (; now_ns < until_ms * kMs; now_ns += 5 * kMs)
      for (uint32_t process = 1; process <= processes; ++process)
        if (sampler.isDue(process, now_ns))
          sampler.visit(process, 100 + process, kArena, now_ns);
  }
  std::vector<ResidentSample> samples() {
    std::vector<ResidentSample> list;
    EXPECT_TRUE(TraceReader::open(file)->forEachResident(
        [&](std::span<const ResidentSample> some) { list.insert(list.end(), some.begin(), some.end()); }));
    return list;
  }

  test::ScratchFolder folder;
  std::filesystem::path file = folder / "trace.mslt";
  Result<TraceWriter> writer = TraceWriter::create(file);
  uint64_t looks = 0, now_ns = 0, growth = 1'000;
  ResidentSampler sampler{[this](uint32_t pid) -> std::optional<ResidentSampler::Pages> {
    ++looks;
    if (pid == 102)
      return std::nullopt; // as if the process had ended
    return ResidentSampler::Pages{pid * 1'000ul + looks * growth, pid * 10ul, pid};
  }};
};

TEST_F(ResidentSamplerTest, LooksOftenAtFirstAndTenTimesASecondLater) {
  run(100, 1);
  EXPECT_EQ(looks, 4u); // samples at 0, 10, 30 and 70 ms
  run(1'000, 1);
  EXPECT_NEAR(static_cast<double>(looks), 12, 1);
}

TEST_F(ResidentSamplerTest, KeepsNothingThatIsAsItWas) {
  growth = 0;
  run(1'000, 1);
  EXPECT_GT(looks, 5u);
  ASSERT_TRUE(sampler.store(*writer, now_ns));
  EXPECT_EQ(samples().size(), 1u);
}

TEST_F(ResidentSamplerTest, LooksLessOftenAtMany) {
  run(1'000, 100); // after the first samples, each process is sampled once a second
  EXPECT_LE(looks, 300u);
  EXPECT_GE(looks, 100u);
}

TEST_F(ResidentSamplerTest, StoresEachSecondAndAtTheEnd) {
  run(300, 3);
  ASSERT_TRUE(sampler.store(*writer, now_ns));
  const auto first = samples();
  ASSERT_FALSE(first.empty());
  EXPECT_EQ(first[0].process, 1u);
  EXPECT_EQ(first[0].resident_bytes, 102'000u);
  EXPECT_EQ(first[0].file_bytes, 1'010u);
  EXPECT_EQ(first[0].shared_bytes, 101u);
  EXPECT_EQ(first[0].recorder_bytes, kArena);
  for (const ResidentSample &sample : first)
    EXPECT_NE(sample.process, 2u);
  run(600, 3);
  ASSERT_TRUE(sampler.store(*writer, now_ns));
  EXPECT_EQ(samples().size(), first.size()); // the later samples are not stored yet
  ASSERT_TRUE(sampler.store(*writer, now_ns, true));
  EXPECT_GT(samples().size(), first.size());
  ASSERT_TRUE(sampler.store(*writer, now_ns, true)); // nothing is left to store
}

TEST(ResidentPages, TellSharedMemoryFromFiles) {
  constexpr size_t kBytes = 8 << 20;
  const auto before = ResidentSampler::lookAt(static_cast<uint32_t>(getpid()));
  void *memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  const auto with = ResidentSampler::lookAt(static_cast<uint32_t>(getpid()));
  munmap(memory, kBytes);
  ASSERT_TRUE(before && with);
  EXPECT_EQ(with->shared_bytes, before->shared_bytes + kBytes);
  EXPECT_GE(with->file_bytes, before->file_bytes + kBytes);
}

TEST(ResidentPages, AreThoseOfTheKernel) {
  constexpr size_t kBytes = 32 << 20;
  const auto before = ResidentSampler::lookAt(static_cast<uint32_t>(getpid()));
  ASSERT_TRUE(before);
  EXPECT_LE(before->file_bytes, before->resident_bytes);
  EXPECT_LE(before->shared_bytes, before->file_bytes);
  auto *memory = static_cast<volatile char *>(malloc(kBytes));
  for (size_t i = 0; i < kBytes; i += 4096)
    memory[i] = 1;
  const auto with = ResidentSampler::lookAt(static_cast<uint32_t>(getpid()));
  free(const_cast<char *>(memory));
  ASSERT_TRUE(with);
  EXPECT_GE(with->resident_bytes + (1 << 20), before->resident_bytes + kBytes);
  EXPECT_FALSE(ResidentSampler::lookAt(0x7fffffff));
}

} // namespace
} // namespace msleaks::analysis
