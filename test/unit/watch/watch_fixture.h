// A fixture with a run that grows in steps while a test watches it.
#pragma once

#include "../report/report_fixture.h"

#include "analysis/watch/frame_text.h"
#include "analysis/watch/live_analysis.h"

namespace msleaks::analysis {

class WatchTest : public ReportTest {
protected:
  std::unique_ptr<LiveAnalysis> watch() {
    auto live = LiveAnalysis::open(run);
    EXPECT_TRUE(live) << live.error().message;
    return live ? std::move(*live) : nullptr;
  }
  static void takeAll(LiveAnalysis &live) {
    do
      ASSERT_TRUE(live.advance());
    while (live.isBehind());
  }
  static const FrameRow *rowAt(const Frame &frame, uint32_t line) {
    for (const FrameRow &row : frame.rows)
      if (row.site && row.site->line == line)
        return &row;
    return nullptr;
  }
};

} // namespace msleaks::analysis
