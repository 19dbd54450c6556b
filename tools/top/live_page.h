// The page of a session that still runs (docs/top.md). The run is analyzed again whenever the page asks, but not so
// often that it would cost more than a fifth of a processor.
#pragma once

#include "analysis/result/report.h"
#include "top/http_server.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace msleaks::tools {

class LivePage {
public:
  LivePage(std::string run, uint64_t interval_ns) : run_(std::move(run)), interval_ns_(interval_ns) {}

  // Analyzes the run if it is time for that. Fails if the run cannot be read.
  Result<void> refresh();
  HttpAnswer answer(std::string_view path);

private:
  bool isRunning() const { return report_ && report_->state == "running"; }

  std::string run_;
  uint64_t interval_ns_;
  std::optional<analysis::Report> report_;
  uint64_t due_ns_ = 0; // CLOCK_MONOTONIC of the next analysis
};

} // namespace msleaks::tools
