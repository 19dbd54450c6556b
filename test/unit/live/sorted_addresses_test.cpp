// Tests the search among sorted addresses: each answer must be the one of a binary search.
#include "analysis/live/sorted_addresses.h"

#include <gtest/gtest.h>
#include <random>

namespace msleaks::analysis {
namespace {

void expectAllFound(const std::vector<uint64_t> &addresses) {
  const SortedAddresses sorted(addresses);
  const auto expectFound = [&](uint64_t address) {
    const auto behind = std::upper_bound(addresses.begin(), addresses.end(), address);
    ASSERT_EQ(sorted.countUntil(address), static_cast<size_t>(behind - addresses.begin())) << std::hex << address;
  };
  ASSERT_EQ(sorted.size(), addresses.size());
  for (const uint64_t edge : {uint64_t{0}, uint64_t{1}, UINT64_MAX})
    expectFound(edge);
  for (const uint64_t address : addresses)
    for (const uint64_t near : {address - 1, address, address + 1, address + 4096, address + (1 << 25)})
      expectFound(near);
}

TEST(SortedAddresses, NoAddresses) { expectAllFound({}); }

TEST(SortedAddresses, TheLowestAndTheHighest) {
  expectAllFound({0});
  expectAllFound({UINT64_MAX});
  expectAllFound({0, 1, UINT64_MAX - 1, UINT64_MAX});
}

TEST(SortedAddresses, EqualAddressesAllCount) { expectAllFound({16, 16, 16, 32, 32}); }

TEST(SortedAddresses, EachAddressAlone) {
  std::vector<uint64_t> addresses;
  for (uint64_t i = 1; i < 300; ++i)
    addresses.push_back(i << 32);
  expectAllFound(addresses);
}

TEST(SortedAddresses, DenseOnlyAtTheBeginOfASpan) {
  std::vector<uint64_t> addresses;
  for (uint64_t i = 0; i < 300; ++i)
    addresses.push_back(0x1000 + i * 16);
  for (uint64_t i = 1; i < 300; ++i)
    addresses.push_back(0x4000 + (i << 24));
  expectAllFound(addresses);
}

TEST(SortedAddresses, RandomSpans) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<uint64_t> addresses;
    uint64_t address = random() % (uint64_t{1} << 46);
    for (int i = 0; i < 500; ++i)
      addresses.push_back(address += uint64_t{1} << random() % (random() % 20 == 0 ? 40 : 14));
    expectAllFound(addresses);
  }
}

} // namespace
} // namespace msleaks::analysis
