// Tests the environments of programs that msleaks starts.
#include "analysis/base/program.h"
#include "msleaks/abi/guarded.h"
#include "msleaks/abi/session.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace msleaks::analysis {
namespace {

// Returns the values of the variable, so that a variable that occurs twice is noticed.
std::vector<std::string> valuesIn(const std::vector<std::string> &environment, const std::string &name) {
  std::vector<std::string> values;
  for (const std::string &entry : environment)
    if (entry.starts_with(name + "="))
      values.push_back(entry.substr(name.size() + 1));
  return values;
}

using Values = std::vector<std::string>;

TEST(Environment, NamedVariablesAreLeftOutOrReplaced) {
  setenv("MSL_TEST_OLD", "1", 1);
  setenv("MSL_TEST_OLDER", "2", 1);
  setenv("MSL_TEST_KEPT", "a=b", 1);
  const auto environment = environmentWithout({"MSL_TEST_OLD"}, {"MSL_TEST_OLDER=3"});
  EXPECT_EQ(valuesIn(environment, "MSL_TEST_OLD"), Values());
  EXPECT_EQ(valuesIn(environment, "MSL_TEST_OLDER"), Values{"3"});
  EXPECT_EQ(valuesIn(environment, "MSL_TEST_KEPT"), Values{"a=b"});
}

TEST(Environment, TheHooksGoBeforeOtherPreloadedLibraries) {
  setenv("LD_PRELOAD", "/other.so", 1);
  setenv(abi::kSessionVariable, "/former", 1);
  const auto environment = makeEnvironment(fmt::format("{}=7", abi::kGuardVariable), {"/libmsleaks_hooks.so"});
  unsetenv("LD_PRELOAD");
  EXPECT_EQ(valuesIn(environment, "LD_PRELOAD"), Values{"/libmsleaks_hooks.so:/other.so"});
  EXPECT_EQ(valuesIn(environment, abi::kSessionVariable), Values()); // a session of msleaks-run must not go on in it
  EXPECT_EQ(valuesIn(environment, abi::kGuardVariable), Values{"7"});
  EXPECT_EQ(valuesIn(environment, "NVTX_INJECTION64_PATH"), Values{"/libmsleaks_hooks.so"});
}

TEST(Environment, PointersEndWithNull) {
  const std::vector<std::string> words{"a", "b"};
  const auto pointers = pointersTo(words);
  ASSERT_EQ(pointers.size(), 3u);
  EXPECT_STREQ(pointers[1], "b");
  EXPECT_EQ(pointers[2], nullptr);
}

} // namespace
} // namespace msleaks::analysis
