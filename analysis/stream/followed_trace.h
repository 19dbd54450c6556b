// Passes a growing trace on: definitions to the catalog, and events and ends of processes to the
// pipeline.
#pragma once

#include "analysis/places/site_catalog.h"
#include "analysis/stream/pipeline.h"
#include "analysis/trace/trace_follower.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace msleaks::analysis::inline stream {

// The treatment of the last running process' blocks when the process ends.
enum class LastEnd : uint8_t {
  Told,
  HeldBack, // they stay visible until another process begins
};

class FollowedTrace {
public:
  struct Process {
    ProcessStart start;
    bool running = true;
  };

  // The catalog and the pipeline must be new, and outlive this object. Nobody else may pass data to them.
  static Result<std::unique_ptr<FollowedTrace>> open(const std::filesystem::path &trace, SiteCatalog &, Pipeline &,
                                                     LastEnd = LastEnd::Told, FollowedEvents = FollowedEvents::All);

  // Passes on what is complete. Stops after `most` events, so that a reader can catch up with a long session in steps.
  // Returns the number of events. Fails if the trace was removed, replaced or truncated.
  Result<uint64_t> advance(uint64_t most = UINT64_MAX);
  // Whether the last advance() stopped before the end.
  bool isBehind() const { return behind_; }
  // No process writes any more: the next advance() passes on everything, complete or not.
  void takeRest();
  // Whether the session ended in order, and the last advance() has read its end.
  bool closed() const { return follower_->closed(); }

  uint64_t events() const { return events_; }
  uint64_t reachedNs() const { return std::max(last_event_ns_, complete_ns_); }
  uint64_t firstStartNs() const { return first_start_ns_; }
  uint64_t lastEndNs() const { return last_end_ns_; }
  const std::map<uint32_t, Process> &processes() const { return processes_; }
  // The fates of the processes whose end was passed on.
  const std::map<uint32_t, ProcessFate> &fates() const { return fates_; }
  // Whether everything came in time. If not, a reader of the whole trace sees another order of events.
  bool inOrder() const { return follower_->lateChunks() == 0 && pipeline_.lateEnds() == 0; }
  std::vector<std::string> damage() const { return follower_->damage(); }

private:
  FollowedTrace(SiteCatalog &catalog, Pipeline &pipeline, LastEnd last_end)
      : catalog_(catalog), pipeline_(pipeline), last_end_(last_end) {}
  TraceListener listener();
  void onStart(const ProcessStart &);
  void onEnd(const ProcessEnd &);
  void end(uint32_t process, const ProcessFate &);
  void tellEnd(uint32_t process, const ProcessFate &);
  std::vector<uint32_t> replacedBy(const ProcessStart &) const;

  SiteCatalog &catalog_;
  Pipeline &pipeline_;
  LastEnd last_end_;
  std::optional<TraceFollower> follower_;
  std::map<uint32_t, Process> processes_;
  std::set<uint32_t> running_;
  std::map<uint32_t, ProcessFate> fates_;
  std::optional<std::pair<uint32_t, ProcessFate>> held_back_;
  uint64_t events_ = 0, first_start_ns_ = 0, last_event_ns_ = 0, complete_ns_ = 0, last_end_ns_ = 0;
  bool behind_ = false;
};

} // namespace msleaks::analysis::inline stream
