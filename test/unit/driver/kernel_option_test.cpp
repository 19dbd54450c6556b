// Tests the value of --kernel.
#include "run/kernel_evidence.h"

#include <gtest/gtest.h>

namespace msleaks::driver {
namespace {

std::vector<std::string> namesOf(const std::vector<kernel::Request> &requests) {
  std::vector<std::string> names;
  for (const kernel::Request &request : requests)
    names.push_back(request.name);
  return names;
}

TEST(KernelOption, TakesCollectorsAndCalls) {
  const auto requests = parseKernel("faults,syscalls:openat,0,sched");
  ASSERT_TRUE(requests) << requests.error().message;
  EXPECT_EQ(namesOf(*requests), (std::vector<std::string>{"faults", "syscalls", "sched"}));
  EXPECT_EQ((*requests)[1].calls.size(), 2u);
  EXPECT_EQ((*requests)[1].calls[1], 0u);
  EXPECT_TRUE((*requests)[0].calls.empty());
}

TEST(KernelOption, AllCallsWithoutNames) {
  const auto requests = parseKernel("syscalls");
  ASSERT_TRUE(requests);
  EXPECT_TRUE(requests->front().calls.empty());
}

TEST(KernelOption, RefusesWhatIsNone) {
  for (const char *list : {"", ",", "nothing", "syscalls:", "syscalls:no_such_call", "syscalls,openat", "faults:openat",
                           "syscalls,syscalls", "syscalls:1024", "syscalls:openat,faults:1"})
    EXPECT_FALSE(parseKernel(list)) << list;
}

} // namespace
} // namespace msleaks::driver
