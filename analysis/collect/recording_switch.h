// Whether a session records, and which kinds of events. Each change goes to the control page and, as an Epoch event,
// into the trace, so that the analysis knows which blocks it may have lost sight of.
#pragma once

#include "analysis/trace/trace_writer.h"
#include "msleaks/abi/session.h"

#include <cstdint>

namespace msleaks::analysis::inline collect {

class RecordingSwitch {
public:
  // `stored`: Epoch events that the trace holds already. A change that its collector did not live to store is stored.
  static Result<RecordingSwitch> take(abi::ControlPage &, TraceWriter &, uint64_t stored = 0);

  bool recording() const { return control_->enabled.load(std::memory_order_relaxed) != 0; }
  uint32_t selected() const { return control_->selected.load(std::memory_order_relaxed); }
  uint64_t sinceNs() const { return control_->since_ns.load(std::memory_order_relaxed); }
  uint64_t stored() const { return stored_; } // Epoch events in the trace

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
