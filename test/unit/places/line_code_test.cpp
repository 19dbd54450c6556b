// Tests how the code of a source line is found, in the test's own program.
#include "analysis/places/line_code.h"

#include <gtest/gtest.h>

#include <link.h>

namespace msleaks::analysis {
namespace {

volatile int sink = 0;

[[gnu::always_inline]] inline void inlined() { sink = sink + 1; }

[[gnu::noinline]] uint64_t callSite() { return reinterpret_cast<uint64_t>(__builtin_return_address(0)); }

// A return address, and the source line of its call.
struct Called {
  uint64_t address;
  uint32_t line;
};
[[gnu::noinline]] Called called() {
  Called result;
  result.line = __LINE__ + 1;
  result.address = callSite();
  inlined();
  return result;
}

uint64_t loadBias() {
  uint64_t bias = 0;
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *to) {
        *static_cast<uint64_t *>(to) = info->dlpi_addr;
        return 1; // stops after the first image, which is the program
      },
      &bias);
  return bias;
}

bool holds(const std::vector<CodeRange> &ranges, uint64_t address) {
  for (const CodeRange &range : ranges)
    if (address >= range.begin && address < range.end)
      return true;
  return false;
}

} // namespace

TEST(LineCode, HoldsTheCallOfTheLine) {
  const Called call = called();
  const uint64_t address = call.address - loadBias() - 1;
  for (const char *file : {__FILE__, "line_code_test.cpp", "places/line_code_test.cpp"})
    EXPECT_TRUE(holds(codeOfLine("/proc/self/exe", file, call.line), address)) << file;
  EXPECT_FALSE(holds(codeOfLine("/proc/self/exe", __FILE__, call.line + 30), address));
}

TEST(LineCode, HoldsWhatWasInlinedThere) {
  const Called call = called();
  EXPECT_FALSE(codeOfLine("/proc/self/exe", __FILE__, call.line + 1).empty());
}

TEST(LineCode, NothingOfOtherFiles) {
  EXPECT_TRUE(codeOfLine("/proc/self/exe", "e_code_test.cpp", called().line).empty());
  EXPECT_TRUE(codeOfLine("/proc/self/exe", "nowhere.cpp", 1).empty());
  EXPECT_TRUE(codeOfLine("/nowhere", "line_code_test.cpp", 1).empty());
  EXPECT_TRUE(codeOfLine("/etc/passwd", "line_code_test.cpp", 1).empty());
}

} // namespace msleaks::analysis
