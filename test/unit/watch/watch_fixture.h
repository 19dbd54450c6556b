// A run that grows in steps while it is watched.
#pragma once

#include "../report/report_fixture.h"

#include "analysis/watch/frame_text.h"
#include "analysis/watch/live_analysis.h"

#include <array>

namespace msleaks::analysis {

class WatchTest : public ReportTest {
protected:
  // Stores these events of process 1, and that all before `until_ns` are there.
  void grow(const std::vector<StreamEvent> &list, uint64_t until_ns) {
    for (const StreamEvent &event : list) {
      const std::array slots{event.event.slots[0]};
      uint64_t &position = positions_[{event.process, event.stream}];
      ASSERT_TRUE(writer->events({event.process, event.stream, position, slots}));
      ++position;
    }
    ASSERT_TRUE(writer->completeUntil(until_ns));
  }
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

private:
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> positions_;
};

} // namespace msleaks::analysis
