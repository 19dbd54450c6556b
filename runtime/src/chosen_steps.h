// Switches between the events of the chosen steps and those outside of them (msleaks/abi/chosen_steps.h).
#pragma once

#include "session.h"

#include "msleaks/abi/chosen_steps.h"

namespace msleaks::runtime {

// Returns the word with the events that a process records before its first step.
inline const std::atomic<uint32_t> *wordBeforeSteps(const abi::ControlPage &page) noexcept {
  const abi::ChosenSteps &chosen = chosenStepsOf(page);
  return chosen.count == 0 ? &page.enabled : &chosen.before;
}

inline void replaceWord(const std::atomic<uint32_t> *old, const std::atomic<uint32_t> *now) noexcept {
  __atomic_compare_exchange_n(&__msl_enabled, &old, now, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

// The process begins a step. Does nothing in a process that does not record.
inline void enterStep(uint64_t number) noexcept {
  const abi::ControlPage *page = __atomic_load_n(&session.control, __ATOMIC_ACQUIRE);
  if (page == nullptr || chosenStepsOf(*page).count == 0) [[likely]]
    return;
  const abi::ChosenSteps &chosen = chosenStepsOf(*page);
  if (!chosen.contains(number))
    return replaceWord(&page->enabled, &chosen.outside);
  replaceWord(&chosen.before, &page->enabled);
  replaceWord(&chosen.outside, &page->enabled);
}

} // namespace msleaks::runtime
