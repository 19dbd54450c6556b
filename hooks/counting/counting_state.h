// Holds what the hooks of an API know about its kernels and their counters. The child of a fork starts without both.
#pragma once

#include "counting/placed_banks.h"

#include <cstdlib>
#include <unistd.h>

namespace msleaks::hooks {

// A `Kernel` is a row of HandleTable. It has the member `is_doubtful`: only the program's kernel itself is launched.
// Hold CountedLock, except for hasKernels(), hasBanks() and end().
template <class Kernel, class Driver> class CountingState {
public:
  bool hasKernels() const noexcept {
    const State *const known = state_.get();
    return known != nullptr && known->kernels.hasAny();
  }
  bool hasBanks() const noexcept {
    const State *const known = state_.get();
    return known != nullptr && known->banks.hasAny();
  }

  // False: there is no memory.
  bool make() noexcept { return state_.make() != nullptr; }
  // Only for code that runs after make().
  HandleTable<Kernel> &kernels() const noexcept { return state_.get()->kernels; }
  BanksList<Driver> &banks() const noexcept { return state_.get()->banks; }

  // Null: there is no memory. `end` calls end(). It runs at the exit.
  Kernel *add(const Kernel &made, void (*end)()) noexcept {
    State &state = *state_.get();
    Kernel *const added = state.kernels.add(made);
    if (added != nullptr && state.counting_pid == 0) {
      // The driver has already registered its own exit handlers. So this handler runs before them.
      state.counting_pid = ::getpid();
      ::atexit(end);
    }
    return added;
  }

  // Reads all counters at the exit. A fork's child inherits the exit handler, but it has no counters and must not call
  // the driver.
  void end() noexcept {
    if (state_.get()->counting_pid != ::getpid())
      return;
    const hook::OwnWork own;
    const CountedLock lock;
    banks().forEach([](PlacedBanks<Driver> &banks) {
      banks.wait();
      banks.drop();
    });
    // Launches by other exit handlers are not counted.
    kernels().forEach([](Kernel &kernel) { kernel.is_doubtful = true; });
  }

private:
  struct State {
    HandleTable<Kernel> kernels;
    BanksList<Driver> banks;
    int counting_pid; // pid of the process whose exit handler reads the counters
  };
  Wiped<State> state_;
};

} // namespace msleaks::hooks
