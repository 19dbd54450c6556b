// Tests that an early report that cannot start does not disturb the recording.
#include "run/early_report.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <new>
#include <system_error>

namespace msleaks::driver {
namespace {

const std::filesystem::path kNowhere = "/nowhere";

// msleaks-run calls start() in a function that must not throw. An exception from start() would end msleaks-run.
TEST(EarlyReport, AnErrorWhileTheQuotaIsReadLeavesNoReport) {
  EXPECT_EQ(EarlyReport::start(kNowhere, kNowhere,
                               []() -> bool {
                                 throw std::filesystem::filesystem_error(
                                     "cannot read", std::make_error_code(std::errc::too_many_files_open));
                               }),
            nullptr);
  EXPECT_EQ(EarlyReport::start(kNowhere, kNowhere, []() -> bool { throw std::bad_alloc(); }), nullptr);
}

TEST(EarlyReport, WithoutIdleProcessorsThereIsNone) {
  EXPECT_EQ(EarlyReport::start(kNowhere, kNowhere, [] { return false; }), nullptr);
}

TEST(EarlyReport, ARunWithoutATraceHasNone) {
  EXPECT_EQ(EarlyReport::start(kNowhere, kNowhere, [] { return true; }), nullptr);
}

} // namespace
} // namespace msleaks::driver
