// The events that the processes of a session record: all that the user selected, less those outside of the chosen steps
// and devices.
#pragma once

#include "msleaks/abi/chosen_devices.h"
#include "msleaks/abi/chosen_steps.h"

namespace msleaks::abi {

// Returns the events that the user selected; 0 while the session records nothing.
inline uint32_t eventsOf(const ControlPage &page) {
  const ChosenDevices &devices = chosenDevicesOf(page);
  return (devices.is_restricted ? devices.events : page.enabled).load(std::memory_order_relaxed);
}

// Sets the events that all processes record from now on.
inline void enable(ControlPage &page, uint32_t events) {
  ChosenSteps &steps = chosenStepsOf(page);
  ChosenDevices &devices = chosenDevicesOf(page);
  // A process takes the word 0 for a stopped session. No process records Epoch, so this bit only keeps the word from 0.
  const uint32_t without_host = events != 0 ? withoutBlocks(events) | enabledBit(EventKind::Epoch) : 0;
  steps.before.store(withoutBlocks(events), std::memory_order_release);
  steps.outside.store(outsideOf(events), std::memory_order_release);
  devices.events.store(events, std::memory_order_release);
  page.enabled.store(devices.is_restricted && !devices.host ? without_host : events, std::memory_order_release);
}

// Whether blocks begin unseen while the session records.
inline bool leavesBlocksOut(const ControlPage &page) {
  return chosenStepsOf(page).count != 0 || chosenDevicesOf(page).is_restricted;
}

// Returns the events that every process records now, whatever its step is, and of every device.
inline uint32_t commonEventsOf(const ControlPage &page) {
  const uint32_t events = eventsOf(page);
  return leavesBlocksOut(page) ? outsideOf(events) : events;
}

} // namespace msleaks::abi
