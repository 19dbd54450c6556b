// What a session has alive while it runs: a trace is read as it grows, and can be asked at any time without ending
// anything. Memory grows with what is alive, with places and with processes, never with the number of events.
//
//   auto live = MSL_TRY(LiveAnalysis::open(run));
//   while (MSL_TRY(live->advance()) != 0) …
//   show(live->frame());
#pragma once

#include "analysis/base/result.h"
#include "analysis/places/site_catalog.h"
#include "analysis/places/symbolizer.h"
#include "analysis/stream/followed_trace.h"
#include "analysis/stream/pipeline.h"
#include "analysis/watch/frame.h"
#include "analysis/watch/live_sums.h"
#include "analysis/watch/place_rows.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace msleaks::analysis {

class LiveAnalysis {
public:
  // A run folder, or its trace file; of a session that has ended, too.
  static Result<std::unique_ptr<LiveAnalysis>> open(const std::filesystem::path &run);

  // Takes in what is complete; stops behind `most` events, so that a long session can be caught up with in steps.
  // Returns how many there were. Fails when the trace was removed, replaced or cut short.
  Result<uint64_t> advance(uint64_t most = UINT64_MAX);
  // More was there when the last advance() stopped.
  bool isBehind() const { return trace_->isBehind(); }

  // Growth counts from what has been taken in.
  void setMoment() { sums_.setMoment(trace_->reachedNs()); }

  // Naming a place may open files with debug information, so a frame spends no more than about `naming_ns` on places
  // that were not named before; those with most bytes come first, the others stand in one row until a later frame.
  Frame frame(Split split = {}, uint64_t naming_ns = UINT64_MAX);

private:
  LiveAnalysis(std::filesystem::path run);
  void lookWhetherItEnded(uint64_t taken);
  uint64_t startNs() const { return start_ns_ != 0 ? start_ns_ : trace_->firstStartNs(); }
  uint64_t sinceStart(uint64_t time_ns) const { return time_ns > startNs() ? time_ns - startNs() : 0; }
  uint64_t timeOf(const Frame &) const;
  void measureRate(Frame &);
  void sumUp(Frame &) const;

  std::filesystem::path run_;
  std::vector<std::string> command_;
  uint64_t start_ns_ = 0; // of the manifest; 0 = it does not say
  Symbolizer symbolizer_;
  SiteCatalog catalog_{symbolizer_};
  LiveSums sums_;
  Pipeline pipeline_{catalog_, {&sums_}, {}, {}, History::LeftOut};
  PlaceRows places_{catalog_};
  std::unique_ptr<FollowedTrace> trace_;
  WatchState state_ = WatchState::Running;
  uint64_t asked_ns_ = 0; // CLOCK_MONOTONIC, when somebody was asked whether the session goes on
  // Of the last frame whose time differs from the one before.
  uint64_t rate_events_ = 0, rate_time_ns_ = 0;
  double rate_ = 0;
};

} // namespace msleaks::analysis
