// Says whether a session records, and which kinds of events. Each change is stored in the control page, and as an Epoch
// event in the trace. So the analysis knows of which blocks it may have missed the frees.
#pragma once

#include "analysis/trace/trace_writer.h"
#include "msleaks/abi/selected_events.h"

#include <cstdint>

namespace msleaks::analysis::inline collect {

class RecordingSwitch {
public:
  // `stored`: number of Epoch events that are in the trace already. If the last collector was killed before it stored a
  // change, the change is stored now.
  static Result<RecordingSwitch> take(abi::ControlPage &, TraceWriter &, uint64_t stored = 0);

  bool recording() const { return eventsOf(*control_) != 0; }
  uint32_t selected() const { return control_->selected.load(std::memory_order_relaxed); }
  uint64_t sinceNs() const { return control_->since_ns.load(std::memory_order_relaxed); }
  uint64_t stored() const { return stored_; } // number of Epoch events in the trace

  Result<void> start(TraceWriter &writer) { return change(writer, selected(), true); }
  Result<void> stop(TraceWriter &writer) { return change(writer, selected(), false); }
  Result<void> select(TraceWriter &writer, uint32_t kinds) { return change(writer, kinds, recording()); }

private:
  RecordingSwitch(abi::ControlPage &control, uint64_t stored) : control_(&control), stored_(stored) {}
  Result<void> change(TraceWriter &, uint32_t selected, bool record);
  Result<void> store(TraceWriter &);

  abi::ControlPage *control_;
  uint64_t stored_;
};

} // namespace msleaks::analysis::inline collect
