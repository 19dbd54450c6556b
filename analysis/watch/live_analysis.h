// What a session has alive while it runs, at any time and without ending anything. msleaks-run says it, where it has
// the processor time to know; else the trace is read as it grows. Memory grows with what is alive, with places and with
// processes, never with the number of events.
//
//   auto live = MSL_TRY(LiveAnalysis::open(run));
//   while (MSL_TRY(live->advance()) != 0) …
//   show(live->frame());
#pragma once

#include "analysis/base/result.h"
#include "analysis/base/run_folder.h"
#include "analysis/places/site_catalog.h"
#include "analysis/places/symbolizer.h"
#include "analysis/stream/followed_trace.h"
#include "analysis/stream/pipeline.h"
#include "analysis/watch/frame.h"
#include "analysis/watch/live_sums.h"
#include "analysis/watch/place_rows.h"
#include "analysis/watch/published_sums.h"
#include "analysis/watch/session_sums.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace msleaks::analysis::inline watch {

// Whom a LiveAnalysis asks.
enum class WatchSource : uint8_t {
  Trace,   // all that is stored, exactly
  Session, // msleaks-run, as long as it answers: some 300 ms behind, and at no cost for each event
};

class LiveAnalysis {
public:
  // A run folder, or its trace file; of a session that has ended, too.
  static Result<std::unique_ptr<LiveAnalysis>> open(const std::filesystem::path &run, WatchSource = WatchSource::Trace);

  // Takes in what is complete; stops behind `most` events, so that a long session can be caught up with in steps.
  // Returns how many there were. Fails when the trace was removed, replaced or cut short.
  Result<uint64_t> advance(uint64_t most = UINT64_MAX);
  // More was there when the last advance() stopped.
  bool isBehind() const { return reading_->trace->isBehind(); }
  // Whether msleaks-run says what is alive.
  bool isTold() const { return watcher_.has_value(); }

  // Growth counts from what has been taken in.
  void setMoment();

  // Naming a place may open files with debug information. So a frame spends no more than about `naming_ns` on new
  // places. Those with most bytes come first; the others stand in one row until a later frame.
  Frame frame(Split split = {}, uint64_t naming_ns = UINT64_MAX);

private:
  // A trace as it is read, and what its numbers mean.
  struct Reading {
    Symbolizer symbolizer;
    SiteCatalog catalog{symbolizer};
    LiveSums sums;
    Pipeline pipeline{catalog, {&sums}, {}, {}, History::LeftOut};
    PlaceRows places{catalog};
    std::unique_ptr<FollowedTrace> trace;
  };

  explicit LiveAnalysis(const RunFolder &);
  Result<void> beginReading(FollowedEvents);
  bool hearFromSession();
  void lookWhetherItEnded(uint64_t taken);
  SessionSums sums();
  uint64_t startNs() const { return start_ns_ != 0 ? start_ns_ : reading_->trace->firstStartNs(); }
  uint64_t sinceStart(uint64_t time_ns) const { return time_ns > startNs() ? time_ns - startNs() : 0; }
  uint64_t timeOf(const Frame &, uint64_t reached_ns) const;
  void measureRate(Frame &, uint64_t reached_ns);
  void sumUp(Frame &, const std::vector<PlaceSum> &) const;

  std::filesystem::path run_, trace_file_;
  std::vector<std::string> command_;
  uint64_t start_ns_ = 0; // of the manifest; 0 = it does not say
  std::unique_ptr<Reading> reading_;
  std::optional<SumsWatcher> watcher_; // of a session that tells its live blocks; its events are passed over
  // What it said at the moment that growth counts from: still true when the trace is read.
  std::vector<uint8_t> told_moment_;
  uint64_t told_moment_ns_ = 0;
  WatchState state_ = WatchState::Running;
  uint64_t asked_ns_ = 0; // CLOCK_MONOTONIC, when somebody was asked whether the session goes on
  // The last frame whose time differs from the one before.
  uint64_t rate_events_ = 0, rate_time_ns_ = 0;
  double rate_ = 0;
};

} // namespace msleaks::analysis::inline watch
