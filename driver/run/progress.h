// Draws the progress line on the terminal while the program runs.
#pragma once

#include "run/options.h"

#include "analysis/base/terminal.h"
#include "analysis/collect/collector.h"

namespace msleaks::driver {

class RunProgress {
public:
  explicit RunProgress(Progress);
  void draw(const analysis::CollectorProgress &);
  void erase() { line_.erase(); }

private:
  analysis::ProgressLine line_;
  uint64_t start_ns_, last_ns_, last_stored_ = 0;
};

} // namespace msleaks::driver
