// Tests which event flags a mapping gets from its protection and its mmap flags.
#include "msleaks/runtime/mappings.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace msleaks::runtime {
namespace {

constexpr int kUsable = PROT_READ | PROT_WRITE;
constexpr int kOwn = MAP_PRIVATE | MAP_ANONYMOUS;

TEST(Mappings, MemoryOfTheProcessAloneHasNoFlag) {
  EXPECT_EQ(mappingFlags(kUsable, kOwn), 0);
  EXPECT_EQ(mappingFlags(PROT_READ, kOwn | MAP_POPULATE), 0);
  EXPECT_EQ(mappingFlags(PROT_EXEC, kOwn | MAP_FIXED), 0);
}

// Another process may touch shared memory. So untouched pages are normal, and the mapping gets kListed.
TEST(Mappings, SharedMemoryIsListed) {
  EXPECT_EQ(mappingFlags(kUsable, MAP_SHARED | MAP_ANONYMOUS), abi::kListed);
  EXPECT_EQ(mappingFlags(kUsable, MAP_SHARED_VALIDATE | MAP_ANONYMOUS), abi::kListed);
}

// A stack has room to grow, and MAP_NORESERVE says that the program will not touch all pages. So untouched pages are
// normal, and the mapping gets kListed.
TEST(Mappings, MemoryThatNeedNotBeTouchedIsListed) {
  for (const int flag : {MAP_STACK, MAP_GROWSDOWN, MAP_NORESERVE})
    EXPECT_EQ(mappingFlags(kUsable, kOwn | flag), abi::kListed) << flag;
}

// Reserved addresses have no pages that could be touched. So kReserve is their only flag.
TEST(Mappings, AddressesWithoutMemoryAreReserved) {
  for (const int flags : {kOwn, kOwn | MAP_STACK, kOwn | MAP_NORESERVE, MAP_SHARED | MAP_ANONYMOUS})
    EXPECT_EQ(mappingFlags(PROT_NONE, flags), abi::kReserve) << flags;
}

TEST(Mappings, PagesOfAFileAreNoMemoryOfTheProcess) {
  for (const int flags : {MAP_PRIVATE, MAP_SHARED, MAP_SHARED_VALIDATE, MAP_PRIVATE | MAP_NORESERVE})
    for (const int protection : {PROT_NONE, PROT_READ, kUsable})
      EXPECT_EQ(mappingFlags(protection, flags), abi::kReserve | abi::kFile) << flags << " " << protection;
}

} // namespace
} // namespace msleaks::runtime
