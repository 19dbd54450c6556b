// Tests the text for dashboards. test/e2e/run/top_test.py reads such a text with Prometheus' own parser.
#include "analysis/watch/frame_metrics.h"

#include <gmock/gmock.h>

namespace msleaks::analysis {
namespace {

using testing::HasSubstr;
using testing::Not;

std::shared_ptr<const SiteText> siteAt(const std::string &file, uint32_t line, const std::string &function) {
  SiteText site;
  site.file = file;
  site.line = line;
  site.function = function;
  return std::make_shared<SiteText>(site);
}

FrameRow rowOf(std::shared_ptr<const SiteText> site, uint64_t bytes, uint64_t count) {
  FrameRow row;
  row.site = std::move(site);
  row.now = {bytes, count};
  return row;
}

TEST(FrameMetrics, HaveEachFamilyOnce) {
  Frame frame;
  frame.events = 17;
  frame.steps = 3;
  frame.peak_bytes = 5000;
  frame.heaps = {{abi::Heap::Host, {3000, 2}}, {abi::Heap::Device, {40, 1}}};
  frame.processes = {{.process = 1, .pid = 4711, .command = "train", .running = true, .now = {3040, 3}}};
  frame.rows = {rowOf(siteAt("net.cpp", 12, "grow()"), 3000, 2), rowOf(siteAt("net.cpp", 20, "hold()"), 40, 1)};
  EXPECT_EQ(metricsOf(frame, 20), R"text(# TYPE msleaks_running gauge
# HELP msleaks_running Whether the session is being recorded.
msleaks_running 1
# TYPE msleaks_events counter
# HELP msleaks_events Events that were recorded.
msleaks_events_total 17
# TYPE msleaks_steps counter
# HELP msleaks_steps Steps that have begun.
msleaks_steps_total 3
# TYPE msleaks_live_bytes gauge
# UNIT msleaks_live_bytes bytes
# HELP msleaks_live_bytes Memory of the blocks that are alive, by heap.
msleaks_live_bytes{heap="host"} 3000
msleaks_live_bytes{heap="device"} 40
# TYPE msleaks_live_blocks gauge
# HELP msleaks_live_blocks Blocks that are alive, by heap.
msleaks_live_blocks{heap="host"} 2
msleaks_live_blocks{heap="device"} 1
# TYPE msleaks_peak_bytes gauge
# UNIT msleaks_peak_bytes bytes
# HELP msleaks_peak_bytes Peak of the physical heaps of all processes together.
msleaks_peak_bytes 5000
# TYPE msleaks_process_live_bytes gauge
# UNIT msleaks_process_live_bytes bytes
# HELP msleaks_process_live_bytes Memory that is alive, by process.
msleaks_process_live_bytes{pid="4711",command="train"} 3040
# TYPE msleaks_place_live_bytes gauge
# UNIT msleaks_place_live_bytes bytes
# HELP msleaks_place_live_bytes Memory that is alive, by the place of allocation.
msleaks_place_live_bytes{place="net.cpp:12",function="grow()"} 3000
msleaks_place_live_bytes{place="net.cpp:20",function="hold()"} 40
# TYPE msleaks_place_live_blocks gauge
# HELP msleaks_place_live_blocks Blocks that are alive, by the place of allocation.
msleaks_place_live_blocks{place="net.cpp:12",function="grow()"} 2
msleaks_place_live_blocks{place="net.cpp:20",function="hold()"} 1
# EOF
)text");
}

TEST(FrameMetrics, AreFewAndTheirSumsAreWhole) {
  Frame frame;
  for (uint32_t line = 1; line <= 100; ++line)
    frame.rows.push_back(rowOf(siteAt("net.cpp", line, "f()"), 1000 - line, 1));
  frame.rows.push_back(rowOf(nullptr, 7, 1));
  for (uint32_t pid = 1; pid <= 100; ++pid)
    frame.processes.push_back({.process = pid, .pid = pid, .command = "rank", .running = true, .now = {10, 1}});
  frame.state = WatchState::Ended;
  const std::string text = metricsOf(frame, 3);
  EXPECT_THAT(text, HasSubstr("msleaks_running 0\n"));
  EXPECT_THAT(text, HasSubstr("place=\"net.cpp:3\""));
  EXPECT_THAT(text, Not(HasSubstr("place=\"net.cpp:4\"")));
  EXPECT_THAT(text, HasSubstr("msleaks_place_live_blocks{place=\"other\",function=\"\"} 98\n"));
  EXPECT_THAT(text, HasSubstr("msleaks_process_live_bytes{pid=\"other\",command=\"\"} 360\n"));
}

TEST(FrameMetrics, TextsAreEscaped) {
  Frame frame;
  frame.processes = {{.process = 1, .pid = 1, .command = "a\"b\\c\nd", .running = true, .now = {1, 1}}};
  EXPECT_THAT(metricsOf(frame, 1), HasSubstr("command=\"a\\\"b\\\\c\\nd\"} 1\n"));
}

} // namespace
} // namespace msleaks::analysis
