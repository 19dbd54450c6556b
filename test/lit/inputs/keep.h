// keep() uses a block, so that the optimiser cannot delete the allocation of the block.
#pragma once
static inline __attribute__((always_inline)) void keep(void *block) { __asm__ volatile("" : : "r"(block) : "memory"); }
