// Defines the records that witness.c writes and compare_paths.cpp reads. A record consists of 64-bit words. The first
// word is the kind of the record.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { WITNESS_SAMPLE = 1, WITNESS_IMAGES = 2, WITNESS_IMAGE = 3, WITNESS_MOST_CALLS = 4096 };

// If this bit is set in the address of a call, the code has no unwind table. So libunwind guessed all later calls.
#define WITNESS_NO_TABLE ((uint64_t)1 << 63)

// A list of images begins with the word WITNESS_IMAGES. The list is valid for the samples that follow it.
struct Image {
  uint64_t kind, bias, begin, end;
  uint64_t name_bytes; // length of the path, which follows and is padded with zeros
};

struct Sample {
  uint64_t kind, address, size, thread;
  uint64_t before_ns, after_ns; // when libunwind's walk of the stack began and ended
  uint64_t ended;               // 1 if the last call is the thread's first call
  uint64_t count;
  uint64_t calls[WITNESS_MOST_CALLS]; // the innermost call is first; the file has only `count` calls
};
