#include "kernel_arguments.h"

#include <gtest/gtest.h>
#include <memory>
#include <thread>
#include <vector>

namespace msleaks::runtime {
namespace {

constexpr uint64_t kOne = 0x5555'0000'1000, kTwo = 0x5555'0000'1010;

class KernelArgumentsTest : public testing::Test {
protected:
  std::vector<uint64_t> of(uint64_t kernel) const {
    std::vector<uint64_t> words;
    EXPECT_TRUE(arguments->isKnown(kernel));
    arguments->forEach(kernel, [&](uint64_t word) { words.push_back(word); });
    return words;
  }
  std::unique_ptr<KernelArguments> arguments = std::make_unique<KernelArguments>();
};

using Words = std::vector<uint64_t>;

} // namespace

TEST_F(KernelArgumentsTest, AreThoseThatWereSetLast) {
  EXPECT_FALSE(arguments->isKnown(kOne));
  arguments->set(kOne, 0, 0xa0);
  arguments->set(kOne, 2, 0xc0);
  arguments->set(kTwo, 0, 0xd0);
  EXPECT_EQ(of(kOne), (Words{0xa0, 0, 0xc0})) << "argument 1 was set by nobody that was seen";
  arguments->set(kOne, 1, 0); // four bytes of a number
  arguments->set(kOne, 0, 0xa1);
  EXPECT_EQ(of(kOne), (Words{0xa1, 0xc0}));
  EXPECT_EQ(of(kTwo), Words{0xd0});
}

TEST_F(KernelArgumentsTest, ANewKernelHasNone) {
  for (uint32_t index = 0; index < 5; ++index)
    arguments->set(kOne, index, 0x10 + index);
  arguments->begin(kOne, KernelArguments::Given::None);
  EXPECT_EQ(of(kOne), Words{});
  arguments->set(kOne, 1, 0x99);
  EXPECT_EQ(of(kOne), (Words{0, 0x99})) << "those of the kernel before are gone";
}

TEST_F(KernelArgumentsTest, ThoseOfACopyAreNotKnown) {
  arguments->set(kOne, 0, 0x10);
  arguments->begin(kOne, KernelArguments::Given::Unknown);
  EXPECT_FALSE(arguments->isKnown(kOne));
  arguments->set(kOne, 1, 0x99);
  EXPECT_EQ(of(kOne), (Words{0, 0x99}));
}

TEST_F(KernelArgumentsTest, WhatThereIsNoRoomForIsNotKnown) {
  arguments->set(kOne, KernelArguments::kMostOfKernel, 0x10);
  EXPECT_EQ(of(kOne).back(), 0u);
  constexpr uint32_t kKernels = 40'000;
  for (uint32_t kernel = 1; kernel <= kKernels; ++kernel)
    arguments->set(kernel * 0x40, 0, 7);
  uint32_t known = 0, unknown = 0;
  for (uint32_t kernel = 1; kernel <= kKernels; ++kernel) {
    if (!arguments->isKnown(kernel * 0x40)) {
      ++unknown;
      continue;
    }
    const Words words = of(kernel * 0x40);
    known += words == Words{7};
    unknown += words == Words{0};
  }
  EXPECT_GT(known, 10'000u);
  EXPECT_GT(unknown, 0u);
  EXPECT_EQ(known + unknown, kKernels);
}

TEST_F(KernelArgumentsTest, ThreadsSetThoseOfTheirKernels) {
  constexpr uint64_t kThreads = 8, kArguments = 20;
  std::vector<std::thread> threads;
  for (uint64_t thread = 1; thread <= kThreads; ++thread)
    threads.emplace_back([&, thread] {
      for (uint64_t round = 1; round <= 200; ++round)
        for (uint32_t index = 0; index < kArguments; ++index)
          arguments->set(thread << 20, index, thread << 32 | round);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (uint64_t thread = 1; thread <= kThreads; ++thread)
    EXPECT_EQ(of(thread << 20), Words(kArguments, thread << 32 | 200));
}

} // namespace msleaks::runtime
