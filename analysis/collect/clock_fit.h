// Turns ticks of a session's clock into CLOCK_MONOTONIC nanoseconds.
//
// The function is a chain of lines, one more at each refit. A new line begins at the end of the last one and aims at
// the true time one interval later. So the function is continuous and never goes back: nanoseconds keep the order of
// ticks, also across threads and processes. If one of the clocks has jumped, the chain is broken and begins again at
// the true time. A suspend is such a jump: the counter runs on, CLOCK_MONOTONIC stands still.
#pragma once

#include "analysis/base/machine.h"
#include "msleaks/abi/session.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace msleaks::analysis::inline collect {

// The same moment on both clocks.
struct ClockPair {
  uint64_t ticks;
  uint64_t ns;
};

// Returns Tsc if the kernel itself uses the counter as its clock, else Monotonic.
abi::ClockKind chooseClock();
// Reads both clocks several times. Returns the pair whose readings were closest to each other.
ClockPair readClockPair(abi::ClockKind);

// ns(t) = ns + (t - ticks) * ns_per_tick_q32 / 2^32
struct ClockLine {
  uint64_t ticks = 0;
  uint64_t ns = 0;
  uint64_t ns_per_tick_q32 = uint64_t{1} << 32;
  uint64_t at(uint64_t t) const;
};
// Returns the line through two pairs. Its rate is 1 if the pairs are the same moment.
ClockLine lineThrough(const ClockPair &a, const ClockPair &b);

// Returns the line that a collector published last. Nothing: there was none, or the collector was killed while it wrote
// one.
std::optional<ClockLine> loadFit(const abi::ClockFit &);
void publishFit(abi::ClockFit &, const ClockLine &);

class ClockModel {
public:
  using PairSource = std::function<ClockPair()>;
  // Follows a running clock. Waits about a millisecond for the first estimate of the rate.
  explicit ClockModel(PairSource);
  // Continues after a collector that had published `last`.
  ClockModel(PairSource, const ClockLine &last);
  // A clock that is no longer read: the line stays as it is.
  explicit ClockModel(const ClockLine &);

  // Appends a line if one is due: after 1 ms, 10 ms, 100 ms, then every second, and at once after a jump. Returns
  // whether it did.
  bool refit();
  const ClockLine &line() const { return lines_.back(); }

  uint64_t toNs(uint64_t ticks) const;

private:
  const ClockLine &lineFor(uint64_t ticks) const;
  void follow(const ClockPair &now, int64_t behind_ns);
  void beginAgain(const ClockPair &now);

  PairSource source_;
  std::vector<ClockPair> pairs_; // recent pairs; the rate is measured from the oldest of them
  std::vector<ClockLine> lines_;
  ClockPair seen_{}; // the pair that refit() read last
  uint64_t next_look_ns_ = 0, next_refit_ns_ = 0;
  uint64_t interval_ns_ = 0;
};

} // namespace msleaks::analysis::inline collect
