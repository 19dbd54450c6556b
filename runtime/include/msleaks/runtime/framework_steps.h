// Records steps that a hook sees in a framework (hooks/frameworks/pytorch.cpp).
#pragma once

#include <cstdint>

extern "C" {
// Reports a step as msl_step does, unless the program itself has reported steps. Two kinds of steps would halve each
// step: then only every other one has the program's allocations.
[[gnu::visibility("default")]] void __msl_step_of_framework(uint64_t number) noexcept;
}
