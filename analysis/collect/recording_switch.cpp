#include "analysis/collect/recording_switch.h"

#include "analysis/base/machine.h"

namespace msleaks::analysis::inline collect {
namespace {

constexpr uint64_t kFirstEpoch = 1; // a session that records from its beginning has no Epoch event

// Returns the next epoch. Odd epochs record, even ones do not.
uint64_t nextEpoch(uint64_t epoch, bool record) { return epoch + (((epoch + 1) % 2 == 1) == record ? 1 : 2); }

} // namespace

Result<RecordingSwitch> RecordingSwitch::take(abi::ControlPage &control, TraceWriter &writer, uint64_t stored) {
  RecordingSwitch taken(control, stored);
  if (control.epoch.load(std::memory_order_relaxed) == 0) {
    const bool record = eventsOf(control) != 0;
    control.epoch.store(record ? kFirstEpoch : nextEpoch(kFirstEpoch, false), std::memory_order_relaxed);
    // If steps or devices are chosen, the event says that blocks begin unseen.
    control.epoch_stored.store(leavesBlocksOut(control) ? 0 : kFirstEpoch, std::memory_order_relaxed);
    control.since_ns.store(readMonotonicNs(), std::memory_order_relaxed);
  }
  if (control.epoch_stored.load(std::memory_order_relaxed) != control.epoch.load(std::memory_order_relaxed))
    MSL_TRY(taken.store(writer));
  return taken;
}

Result<void> RecordingSwitch::change(TraceWriter &writer, uint32_t selected, bool record) {
  control_->selected.store(selected, std::memory_order_relaxed);
  const uint32_t enabled = record ? selected : 0;
  if (enabled == eventsOf(*control_))
    return {};
  control_->epoch.store(nextEpoch(control_->epoch.load(std::memory_order_relaxed), enabled != 0),
                        std::memory_order_relaxed);
  enable(*control_, enabled);
  // The time is read after the store: an older block may have been freed without a record, but not a younger one.
  control_->since_ns.store(readMonotonicNs(), std::memory_order_relaxed);
  return store(writer);
}

Result<void> RecordingSwitch::store(TraceWriter &writer) {
  const abi::EpochEvent event{
      {abi::EventKind::Epoch, abi::Heap::Host, 0, 0, 0, control_->since_ns.load(std::memory_order_relaxed)},
      control_->epoch.load(std::memory_order_relaxed),
      commonEventsOf(*control_)};
  abi::Slot slot;
  static_assert(sizeof slot == sizeof event);
  __builtin_memcpy(&slot, &event, sizeof slot);
  MSL_TRY(writer.events({kSessionProcess, 0, stored_, {&slot, 1}}));
  ++stored_;
  control_->epoch_stored.store(event.number, std::memory_order_relaxed);
  return {};
}

} // namespace msleaks::analysis::inline collect
