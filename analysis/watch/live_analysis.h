// The live blocks of a session, at any moment while it runs. They come from msleaks-run if it has processor time to
// compute them. Otherwise the trace is read as it grows. Memory grows with the live blocks, places and processes, but
// not with the number of events.
//
//   auto live = MSL_TRY(LiveAnalysis::open(run));
//   while (MSL_TRY(live->advance()) != 0) …
//   show(live->frame());
#pragma once

#include "analysis/base/result.h"
#include "analysis/base/run_folder.h"
#include "analysis/base/session_time.h"
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

// Where a LiveAnalysis gets the sums.
enum class WatchSource : uint8_t {
  Trace,   // from the trace: exactly what is stored
  Session, // from msleaks-run while it answers: some 300 ms late, but without a cost for each event
};

class LiveAnalysis {
public:
  // Opens a run folder or its trace file. The session may have ended.
  static Result<std::unique_ptr<LiveAnalysis>> open(const std::filesystem::path &run, WatchSource = WatchSource::Trace);

  // Reads the events that are complete. Stops after `most` events, so that the caller can read a long session in steps.
  // Returns how many events were read. Fails if the trace was removed, replaced or cut off.
  Result<uint64_t> advance(uint64_t most = UINT64_MAX);
  // Whether the last advance() stopped before the end.
  bool isBehind() const { return reading_->trace->isBehind(); }
  // Whether the sums come from msleaks-run.
  bool isTold() const { return watcher_.has_value(); }

  // From now on, growth counts from the events read so far.
  void setMoment();

  // To name a place, files with debug information may be read. So a frame spends only about `naming_ns` on new places.
  // Places with the most bytes are named first. All others share one row until a later frame.
  Frame frame(Split split = {}, uint64_t naming_ns = UINT64_MAX);

private:
  // A trace that is being read, and the meaning of its numbers.
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
  uint64_t timeOf(const Frame &, uint64_t reached_ns) const;
  void measureRate(Frame &, uint64_t reached_ns);
  void sumUp(Frame &, const std::vector<PlaceSum> &) const;

  std::filesystem::path run_, trace_file_;
  std::vector<std::string> command_;
  uint64_t start_ns_ = 0; // from the manifest; 0 = not known
  std::unique_ptr<Reading> reading_;
  std::optional<SumsWatcher> watcher_; // if msleaks-run publishes sums; then the trace's events are skipped
  // The sums of msleaks-run at the moment from which growth counts. They stay valid when the trace is read later.
  std::vector<uint8_t> told_moment_;
  uint64_t told_moment_ns_ = 0;
  WatchState state_ = WatchState::Running;
  uint64_t asked_ns_ = 0; // CLOCK_MONOTONIC: when the session's state was last checked
  // The events and the time of the last frame, from which the rate is computed.
  uint64_t rate_events_ = 0, rate_time_ns_ = 0;
  double rate_ = 0;
};

} // namespace msleaks::analysis::inline watch
