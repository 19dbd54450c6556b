// The bytes of an account over time, with a bounded number of points. The highest value of each short interval is
// kept, so the peak is exact. If the run has few changes, each of them is a point.
#pragma once

#include <algorithm>
#include <cstdint>

namespace msleaks::analysis::inline exporters {

class MemoryCurve {
public:
  static constexpr uint64_t kMostIntervals = 250'000; // each has at most two points

  explicit MemoryCurve(uint64_t duration_ns) : interval_ns_(duration_ns / kMostIntervals) {}

  uint64_t bytes() const { return last_bytes_; }
  // Takes a change. Calls point(time_ns, bytes) for points before it that are complete.
  template <class F> void change(uint64_t time_ns, int64_t bytes, F &&point) {
    if (is_open_ && time_ns > begin_ns_ + interval_ns_)
      flush(point);
    if (!is_open_)
      begin_ns_ = time_ns;
    last_bytes_ += static_cast<uint64_t>(bytes);
    last_ns_ = time_ns;
    if (!is_open_ || last_bytes_ >= highest_bytes_) {
      highest_bytes_ = last_bytes_;
      highest_ns_ = time_ns;
    }
    is_open_ = true;
  }
  template <class F> void flush(F &&point) {
    if (!is_open_)
      return;
    if (highest_bytes_ > last_bytes_)
      point(highest_ns_, highest_bytes_);
    point(last_ns_, last_bytes_);
    is_open_ = false;
  }

private:
  uint64_t interval_ns_;
  bool is_open_ = false; // an interval has begun
  uint64_t begin_ns_ = 0, last_ns_ = 0, highest_ns_ = 0;
  uint64_t last_bytes_ = 0, highest_bytes_ = 0;
};

} // namespace msleaks::analysis::inline exporters
