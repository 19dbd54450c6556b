// One line on the terminal, redrawn a few times per second while the program runs.
#pragma once

#include "msleaks/analysis/collector.h"

namespace msleaks::driver {

class ProgressLine {
public:
  // Silent unless stderr is a terminal, and we are in its foreground.
  ProgressLine();
  void draw(const analysis::CollectorProgress &);
  void erase();

private:
  bool visible() const;

  bool terminal_;
  bool drawn_ = false;
  uint64_t start_ns_, last_ns_ = 0, last_stored_ = 0;
};

} // namespace msleaks::driver
