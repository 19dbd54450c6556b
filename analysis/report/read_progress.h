// Says how far the reading of a trace is. Asked for every event, so it must cost nothing.
#pragma once

#include "analysis/report/report.h"

namespace msleaks::analysis {

class ReadProgress {
public:
  // `progress` outlives it, and may be empty.
  ReadProgress(const Progress &progress, uint64_t events) : progress_(progress), events_(events) {}
  void onEvent() {
    if (--until_next_ == 0)
      tell(kEventsBetween);
  }
  // That many at once; tells each time.
  void onEvents(uint64_t events) { tell(events); }

private:
  static constexpr uint64_t kEventsBetween = 1 << 20;
  void tell(uint64_t more);

  const Progress &progress_;
  uint64_t events_, done_ = 0, until_next_ = kEventsBetween;
};

} // namespace msleaks::analysis
