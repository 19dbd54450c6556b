#include "python/address_set.h"

#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace msleaks::runtime::python {
namespace {

TEST(AddressSet, HasWhatWasAddedUntilItIsRemoved) {
  AddressSet set;
  ASSERT_TRUE(set.open());
  EXPECT_FALSE(set.remove(0x1000));
  EXPECT_TRUE(set.add(0x1000));
  EXPECT_FALSE(set.remove(0x1010));
  EXPECT_TRUE(set.remove(0x1000));
  EXPECT_FALSE(set.remove(0x1000));
}

// A large program has some 100,000 objects of more than 512 bytes.
TEST(AddressSet, HasRoomForHalfAMillion) {
  constexpr uint64_t kAddresses = 500'000;
  AddressSet set;
  ASSERT_TRUE(set.open());
  uint64_t added = 0, removed = 0;
  for (uint64_t i = 1; i <= kAddresses; ++i)
    added += set.add(0x20000000000 + i * 640);
  for (uint64_t i = 1; i <= kAddresses; ++i)
    removed += set.remove(0x20000000000 + i * 640);
  EXPECT_GT(added, kAddresses - kAddresses / 1000);
  EXPECT_EQ(removed, added);
}

TEST(AddressSet, RefusesAnAddressThatFindsNoRoom) {
  AddressSet set;
  ASSERT_TRUE(set.open());
  std::vector<uint64_t> added;
  uint64_t refused = 0;
  for (uint64_t i = 1; i <= 1'200'000; ++i)
    if (set.add(i * 16))
      added.push_back(i * 16);
    else
      refused = i * 16;
  ASSERT_NE(refused, 0u);
  EXPECT_FALSE(set.remove(refused));
  for (const uint64_t address : added)
    ASSERT_TRUE(set.remove(address));
}

TEST(AddressSet, IsForThreadsAtTheSameTime) {
  constexpr uint64_t kThreads = 4, kAddresses = 20'000;
  AddressSet set;
  ASSERT_TRUE(set.open());
  std::vector<std::thread> threads;
  std::vector<uint64_t> wrong(kThreads);
  for (uint64_t number = 0; number < kThreads; ++number)
    threads.emplace_back([&, number] {
      for (int round = 0; round < 5; ++round) {
        for (uint64_t i = 0; i < kAddresses; ++i)
          wrong[number] += !set.add((i * kThreads + number + 1) * 16);
        for (uint64_t i = 0; i < kAddresses; ++i)
          wrong[number] += !set.remove((i * kThreads + number + 1) * 16);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, std::vector<uint64_t>(kThreads));
}

} // namespace
} // namespace msleaks::runtime::python
