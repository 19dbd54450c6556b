// An analyzer sees births and deaths of blocks (BlockObserver) and, if it asks for them, events, and has a result.
//
// To add one: a header here with its result, one file in src/analyzers/ that derives from Analyzer, one row where the
// report makes its analyzers (src/report/analyze_run.cpp). Rules: it streams; its memory grows with what is alive and
// with the number of sites, never with the number of events; its result is a value that holds no pointer.
#pragma once

#include "msleaks/abi/events.h"
#include "msleaks/analysis/live_set.h"
#include "msleaks/analysis/trace_reader.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace msleaks::analysis {

// How a process image came to its end.
struct ProcessFate {
  FreeCause cause = FreeCause::StillAlive; // one of isEnd
  uint64_t time_ns = 0;
  int exit_status = -1; // as a shell reports it; -1 = not known
};

class Analyzer : public BlockObserver {
public:
  virtual std::string_view name() const = 0;

  // Kinds of events that onEvent wants: abi::enabledBit of each.
  virtual uint32_t eventKinds() const { return 0; }
  // After the live set has taken the event in; `site` is its site in the catalog.
  virtual void onEvent(const StreamEvent &, SiteId /*site*/) {}

  // After the deaths of what the process had alive.
  virtual void onProcessEnd(uint32_t /*process*/, const ProcessFate &) {}

  void onAlloc(const Block &, AllocCause, uint64_t /*time_ns*/) override {}
  void onFree(const Block &, FreeCause, uint64_t /*time_ns*/) override {}
  void onRetarget(const Block &, SiteId /*from*/, uint64_t /*time_ns*/) override {}
};

} // namespace msleaks::analysis
