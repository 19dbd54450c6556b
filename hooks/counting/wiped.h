// State of the process that the child of a fork, _Fork or clone does not inherit: the child finds zeros. So a lock that
// another thread holds at the fork is free in the child, and the child does not use its parent's counters.
#pragma once

#include <cstdint>

namespace msleaks::hooks {

// Returns zeroed pages, which are zeroed again in the child of a fork. Null: there is no memory, or the kernel cannot
// wipe it.
void *takeWipedPages(uint64_t bytes) noexcept;
void givePages(void *pages, uint64_t bytes) noexcept;

// A `State` of zeros must be valid. Its destructor is never called.
template <class State> class Wiped {
public:
  // Null: it was not made yet.
  State *get() const noexcept { return __atomic_load_n(&state_, __ATOMIC_ACQUIRE); }

  // Null: takeWipedPages failed.
  State *make() noexcept {
    State *known = get();
    if (known != nullptr)
      return known;
    auto *const made = static_cast<State *>(takeWipedPages(sizeof(State)));
    if (made == nullptr ||
        __atomic_compare_exchange_n(&state_, &known, made, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
      return made;
    givePages(made, sizeof(State));
    return known;
  }

private:
  State *state_ = nullptr;
};

} // namespace msleaks::hooks
