#include "analysis/collect/clock_fit.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace msleaks::analysis::inline collect {
namespace {

__extension__ using Wide = __int128;

constexpr unsigned kPairTries = 16;
constexpr size_t kPairsKept = 16;
constexpr uint64_t kFirstIntervalNs = 1'000'000;
constexpr uint64_t kLastIntervalNs = 1'000'000'000;
// A new line catches up with the true time. Its rate may differ from the measured rate by this factor.
constexpr double kMaxSlew = 0.1;
// At such a distance, one of the clocks has jumped: it stood still or was set, for example in a suspended or migrated
// machine. To catch up by kMaxSlew would take too long. The check is frequent, because events that are collected before
// it get wrong times.
constexpr int64_t kJumpNs = 50'000'000;
constexpr uint64_t kLookForJumpNs = 5'000'000;

uint64_t readTicks(abi::ClockKind kind) {
#if defined(__x86_64__)
  if (kind == abi::ClockKind::Tsc)
    return __rdtsc();
#elif defined(__aarch64__)
  if (kind == abi::ClockKind::Tsc) {
    uint64_t ticks;
    asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
  }
#endif
  (void)kind;
  return readMonotonicNs();
}

uint64_t toQ32(double rate) { return static_cast<uint64_t>(std::llround(rate * 4294967296.0)); }
double fromQ32(uint64_t rate) { return static_cast<double>(rate) / 4294967296.0; }

} // namespace

abi::ClockKind chooseClock() {
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string name;
  file >> name;
  return name == "tsc" || name == "arch_sys_counter" ? abi::ClockKind::Tsc : abi::ClockKind::Monotonic;
}

ClockPair readClockPair(abi::ClockKind kind) {
  if (kind == abi::ClockKind::Monotonic) {
    const uint64_t now = readMonotonicNs();
    return {now, now};
  }
  ClockPair best{};
  uint64_t bestDelay = UINT64_MAX;
  for (unsigned i = 0; i < kPairTries; ++i) {
    const uint64_t before = readTicks(kind);
    const uint64_t ns = readMonotonicNs();
    const uint64_t delay = readTicks(kind) - before;
    if (delay < bestDelay) {
      bestDelay = delay;
      best = {before + delay / 2, ns};
    }
  }
  return best;
}

uint64_t ClockLine::at(uint64_t t) const {
  const Wide distance = static_cast<int64_t>(t - ticks);
  const Wide result = static_cast<Wide>(ns) + ((distance * static_cast<Wide>(ns_per_tick_q32)) >> 32);
  return result < 0 ? 0 : static_cast<uint64_t>(result);
}

ClockLine lineThrough(const ClockPair &a, const ClockPair &b) {
  if (b.ticks <= a.ticks || b.ns <= a.ns)
    return {a.ticks, a.ns, uint64_t{1} << 32};
  return {a.ticks, a.ns, toQ32(static_cast<double>(b.ns - a.ns) / static_cast<double>(b.ticks - a.ticks))};
}

std::optional<ClockLine> loadFit(const abi::ClockFit &fit) {
  for (unsigned tries = 0; tries < 1000; ++tries) {
    const uint32_t before = fit.version.load(std::memory_order_acquire);
    const ClockLine line{fit.ticks.load(std::memory_order_acquire), fit.ns.load(std::memory_order_acquire),
                         fit.ns_per_tick_q32.load(std::memory_order_acquire)};
    if (before != 0 && before % 2 == 0 && fit.version.load(std::memory_order_relaxed) == before)
      return line;
  }
  return std::nullopt;
}

void publishFit(abi::ClockFit &fit, const ClockLine &line) {
  const uint32_t version = fit.version.load(std::memory_order_relaxed) | 1u;
  fit.version.store(version, std::memory_order_relaxed);
  // Each store is a release: a reader that sees a new value also sees the odd version.
  fit.ticks.store(line.ticks, std::memory_order_release);
  fit.ns.store(line.ns, std::memory_order_release);
  fit.ns_per_tick_q32.store(line.ns_per_tick_q32, std::memory_order_release);
  fit.version.store(version + 1, std::memory_order_release);
}

ClockModel::ClockModel(PairSource source) : source_(std::move(source)), interval_ns_(kFirstIntervalNs) {
  const ClockPair first = source_();
  sleepNs(kFirstIntervalNs);
  const ClockPair second = source_();
  pairs_ = {first, second};
  lines_.push_back(lineThrough(first, second));
  seen_ = second;
  next_refit_ns_ = next_look_ns_ = second.ns + interval_ns_;
}

ClockModel::ClockModel(PairSource source, const ClockLine &last)
    : source_(std::move(source)), lines_{last}, interval_ns_(kFirstIntervalNs) {
  const ClockPair before{last.ticks, last.ns}, now = source_();
  pairs_ = {before, now};
  lines_.push_back({now.ticks, std::max(now.ns, last.at(now.ticks)), lineThrough(before, now).ns_per_tick_q32});
  seen_ = now;
  next_refit_ns_ = next_look_ns_ = now.ns + interval_ns_;
}

ClockModel::ClockModel(const ClockLine &line) : lines_{line} {}

bool ClockModel::refit() {
  if (!source_ || readMonotonicNs() < next_look_ns_)
    return false;
  const ClockPair now = source_();
  next_look_ns_ = now.ns + kLookForJumpNs;
  const auto behind = static_cast<int64_t>(now.ns - lines_.back().at(now.ticks));
  if (behind > kJumpNs || behind < -kJumpNs || now.ticks < seen_.ticks)
    beginAgain(now);
  else if (now.ns >= next_refit_ns_)
    follow(now, behind);
  else
    return seen_ = now, false;
  seen_ = now;
  return true;
}

void ClockModel::follow(const ClockPair &now, int64_t behind) {
  const double rate = fromQ32(lineThrough(pairs_.front(), now).ns_per_tick_q32);
  interval_ns_ = std::min(interval_ns_ * 10, kLastIntervalNs);
  next_refit_ns_ = now.ns + interval_ns_;
  if (pairs_.size() == kPairsKept)
    pairs_.erase(pairs_.begin());
  pairs_.push_back(now);
  const double slew = static_cast<double>(behind) / static_cast<double>(interval_ns_);
  lines_.push_back(
      {now.ticks, lines_.back().at(now.ticks), toQ32(rate * (1.0 + std::clamp(slew, -kMaxSlew, kMaxSlew)))});
}

// After a jump, the distance between the pairs includes the gap. So the new line has the rate of the first line. The
// new line goes through `now`, and begins at the time of the last pair before the jump. No event has a time between
// these two points.
void ClockModel::beginAgain(const ClockPair &now) {
  const uint64_t rate = lines_.front().ns_per_tick_q32;
  const auto ticks_since = static_cast<uint64_t>(static_cast<double>(now.ns - seen_.ns) / fromQ32(rate));
  const ClockLine next{now.ticks - std::min(ticks_since, now.ticks), std::min(seen_.ns, now.ns), rate};
  if (static_cast<int64_t>(next.ticks - lines_.back().ticks) <= 0)
    lines_.clear(); // the counter was set back, so the ticks of the old lines occur again
  lines_.push_back(next);
  pairs_ = {now};
  interval_ns_ = kFirstIntervalNs;
  next_refit_ns_ = now.ns + interval_ns_;
}

const ClockLine &ClockModel::lineFor(uint64_t ticks) const {
  const auto isBefore = [](uint64_t left, const ClockLine &line) {
    return static_cast<int64_t>(left - line.ticks) < 0;
  };
  if (!isBefore(ticks, lines_.back())) // almost always so, because collected events are recent
    return lines_.back();
  const auto next = std::upper_bound(lines_.begin(), lines_.end(), ticks, isBefore);
  return next == lines_.begin() ? lines_.front() : *std::prev(next);
}

uint64_t ClockModel::toNs(uint64_t ticks) const { return lineFor(ticks).at(ticks); }

} // namespace msleaks::analysis::inline collect
