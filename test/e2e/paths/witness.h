// The records that witness.c writes and compare_paths.cpp reads. Each has whole 64-bit words; the first is the kind.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { WITNESS_SAMPLE = 1, WITNESS_IMAGES = 2, WITNESS_IMAGE = 3, WITNESS_MOST_CALLS = 4096 };

// A bit in an address: no table has the rule of its caller. The next calls are libunwind's guess.
#define WITNESS_NO_TABLE ((uint64_t)1 << 63)

// A list of images begins with a word of WITNESS_IMAGES; it holds for the samples behind it.
struct Image {
  uint64_t kind, bias, begin, end;
  uint64_t name_bytes; // of the path, which follows, with zeros behind it
};

struct Sample {
  uint64_t kind, address, size, thread;
  uint64_t before_ns, after_ns; // the walk
  uint64_t ended;               // the last call is the first one of the thread
  uint64_t count;
  uint64_t calls[WITNESS_MOST_CALLS]; // innermost first; in the file only `count` of them
};
