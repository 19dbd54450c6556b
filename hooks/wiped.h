// State of the process that the child of a fork, _Fork or clone does not inherit: the child finds zeros. So a lock that
// another thread holds at the fork is free in the child, and the child does not touch what its parent counts.
#pragma once

#include <cstdint>

namespace msleaks::hooks {

// Pages of zeros that the child of a fork finds as zeros again. Null: there is no memory, or the kernel cannot wipe it.
void *takeWipedPages(uint64_t bytes) noexcept;
void givePages(void *pages, uint64_t bytes) noexcept;

// Zeros are a valid `State`, and nobody destroys one.
template <class State> class Wiped {
public:
  // Null: nobody has made it.
  State *get() const noexcept { return __atomic_load_n(&state_, __ATOMIC_ACQUIRE); }

  // Null: takeWipedPages.
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
