#include "analysis/collect/kernel.h"
#include "msleaks/abi/session.h"

#include <gtest/gtest.h>

namespace msleaks::test {

TEST(Kernel, ThisOneIsServed) { EXPECT_EQ(analysis::whyUnserved(analysis::askKernel()), ""); }

TEST(Kernel, PagesUpToTheLargestAreServed) {
  for (const uint64_t page_bytes : {4096, 16384, 65536, 262144})
    EXPECT_EQ(analysis::whyUnserved({page_bytes, true}).empty(), page_bytes <= abi::kMaxPageBytes) << page_bytes;
  EXPECT_NE(analysis::whyUnserved({262144, true}).find("256 KiB"), std::string::npos);
}

TEST(Kernel, WithoutWipingItIsNot) {
  EXPECT_NE(analysis::whyUnserved({4096, false}).find("MADV_WIPEONFORK"), std::string::npos);
}

} // namespace msleaks::test
