#include "kernel_arguments.h"

#include <gtest/gtest.h>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace msleaks::runtime {
namespace {

constexpr uint64_t kOne = 0x5555'0000'1000, kTwo = 0x5555'0000'1010;

class KernelArgumentsTest : public testing::Test {
protected:
  std::vector<uint64_t> of(uint64_t kernel) const {
    std::vector<uint64_t> words;
    EXPECT_TRUE(arguments->isKnown(kernel));
    arguments->forEach(kernel, [&](uint64_t word, const abi::GraphArgument *) { words.push_back(word); });
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
  arguments->set(kOne, 1, 0); // a number of four bytes, which cannot be an address
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

TEST_F(KernelArgumentsTest, RowsSayWhatIsDoneWithThem) {
  const abi::GraphArgument rows[] = {{0, 16, 0, abi::kIsAddress | abi::kReads, {}}, {0, 0, 8, 0, {}}};
  arguments->set(kOne, 0, 0x10);
  arguments->set(kOne, 1, 0x20);
  arguments->set(kOne, 2, 0x30);
  arguments->describe(kOne, {rows, sizeof *rows, 2, true});
  using Given = std::vector<std::pair<uint64_t, const abi::GraphArgument *>>;
  const auto given = [&] {
    Given list;
    arguments->forEach(kOne, [&](uint64_t word, const abi::GraphArgument *row) { list.emplace_back(word, row); });
    return list;
  };
  EXPECT_EQ(given(), (Given{{0x10, rows}, {0x20, rows + 1}, {0x30, nullptr}, {0, nullptr}}));
  arguments->begin(kOne, KernelArguments::Given::None);
  arguments->set(kOne, 0, 0x10);
  EXPECT_EQ(given(), (Given{{0x10, nullptr}})) << "the rows were the kernel's before";
}

TEST_F(KernelArgumentsTest, ThoseOfACopyAreNotKnown) {
  arguments->set(kOne, 0, 0x10);
  arguments->begin(kOne, KernelArguments::Given::Unknown);
  EXPECT_FALSE(arguments->isKnown(kOne));
  arguments->set(kOne, 1, 0x99);
  EXPECT_EQ(of(kOne), (Words{0, 0x99, 0}));
  arguments->set(kOne, 0, 0x88);
  EXPECT_EQ(of(kOne), (Words{0x88, 0x99, 0})) << "there may be a third";
  arguments->begin(kOne, KernelArguments::Given::None);
  arguments->set(kOne, 0, 0x77);
  EXPECT_EQ(of(kOne), (Words{0x77}));
}

TEST_F(KernelArgumentsTest, WhatThereIsNoRoomForIsNotKnown) {
  arguments->set(kOne, KernelArguments::kMostOfKernel, 0x10);
  EXPECT_EQ(of(kOne).back(), 0u);
  constexpr uint32_t kKernels = 40'000;
  for (uint64_t kernel = 1; kernel <= kKernels; ++kernel)
    arguments->set(kernel * 0x40, 0, 7);
  uint32_t known = 0, unknown = 0;
  for (uint64_t kernel = 1; kernel <= kKernels; ++kernel) {
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
