// Tests that one missing fclose() gives one finding, although both the FILE and its buffer leak.
#include "analysis/findings/file_leaks.h"

#include <gtest/gtest.h>

namespace msleaks::analysis {
namespace {

Finding leakOf(const std::string &type, uint32_t line, uint64_t bytes) {
  Finding finding;
  finding.kind = "leak";
  finding.allocator.type = type;
  finding.site.file = "read.c";
  finding.site.line = line;
  finding.bytes = bytes;
  finding.count = 30;
  return finding;
}

Finding handlesAt(uint32_t line) {
  Finding finding = leakOf("FILE", line, 0);
  finding.kind = "handles";
  finding.part = "FILE";
  return finding;
}

FrameText frameAt(uint32_t line) {
  FrameText frame;
  frame.file = "read.c";
  frame.line = line;
  return frame;
}

std::vector<bool> fold(std::vector<Finding> &findings) {
  std::vector<Finding *> list;
  for (Finding &finding : findings)
    list.push_back(&finding);
  return foldFileLeaks(list);
}

} // namespace

TEST(FileLeaks, AForgottenFileAndItsBufferAreTheHandles) {
  std::vector<Finding> findings{leakOf("buffer of a FILE", 7, 30 * 1024), leakOf("FILE", 6, 30 * 472), handlesAt(6),
                                leakOf("float", 6, 100)};
  findings[0].holder = frameAt(6);
  EXPECT_EQ(fold(findings), (std::vector<bool>{true, true, false, false}));
  EXPECT_EQ(findings[2].evidence,
            (Evidence{{"keeps_bytes", uint64_t{30 * (472 + 1024)}}, {"keeps_blocks", uint64_t{60}}}));
}

TEST(FileLeaks, OfTwoPlacesEachHasItsOwn) {
  std::vector<Finding> findings{handlesAt(6), handlesAt(16), leakOf("buffer of a FILE", 7, 1024)};
  findings[2].holder = frameAt(16);
  fold(findings);
  EXPECT_TRUE(findings[0].evidence.empty());
  EXPECT_FALSE(findings[1].evidence.empty());
}

// A FILE to which a variable still refers may have no finding `handles`. Then the leak of the buffer is folded into the
// leak of the FILE.
TEST(FileLeaks, ABufferGoesWithTheLeakOfItsFile) {
  std::vector<Finding> findings{leakOf("FILE", 6, 472), leakOf("buffer of a FILE", 7, 1024)};
  findings[1].holder = frameAt(6);
  EXPECT_EQ(fold(findings), (std::vector<bool>{false, true}));
}

// freopen() returns the same FILE. So fopen() has allocated the FILE's block, and freopen() has opened the handle.
TEST(FileLeaks, AFileThatWasOpenedAgainIsOneFinding) {
  std::vector<Finding> findings{leakOf("buffer of a FILE", 7, 30 * 1024), leakOf("FILE", 6, 30 * 472), handlesAt(8)};
  findings[0].holder = frameAt(6);
  findings[2].reopened = {{frameAt(6), 30}};
  EXPECT_EQ(fold(findings), (std::vector<bool>{true, true, false}));
  EXPECT_EQ(findings[2].evidence,
            (Evidence{{"keeps_bytes", uint64_t{30 * (472 + 1024)}}, {"keeps_blocks", uint64_t{60}}}));
}

// Line 6 has opened 30 FILEs, and freopen() has opened 29 of them again. So one FILE is a separate leak.
TEST(FileLeaks, MoreFilesThanWereOpenedAgainStayALeak) {
  std::vector<Finding> findings{leakOf("FILE", 6, 30 * 472), handlesAt(8)};
  findings[1].reopened = {{frameAt(6), 29}};
  EXPECT_EQ(fold(findings), (std::vector<bool>{false, false}));
}

TEST(FileLeaks, ABufferWhoseFileIsNoFindingStays) {
  std::vector<Finding> findings{leakOf("buffer of a FILE", 7, 1024)};
  EXPECT_EQ(fold(findings), (std::vector<bool>{false}));
  findings[0].holder = frameAt(99);
  EXPECT_EQ(fold(findings), (std::vector<bool>{false}));
}

} // namespace msleaks::analysis
