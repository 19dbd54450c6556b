// What a test does with a block so that the optimiser cannot see through it.
#pragma once
static inline __attribute__((always_inline)) void keep(void *block) { __asm__ volatile("" : : "r"(block) : "memory"); }
