// Imitates a just-in-time compiler that writes no unwind tables. Some compiled functions have a frame pointer. The
// program maps and unmaps their pages. Compiled functions call C code, which allocates and calls compiled functions.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { kFunctions = 32, kBytes = 64, kRounds = 60 };
typedef void (*Compiled)(void (*callee)(unsigned), unsigned argument);
static Compiled compiled[kFunctions];
static unsigned state = 1;
static unsigned random_number(unsigned below) { return (state = state * 1664525 + 1013904223) / 65536 % below; }

static uint8_t *put(uint8_t *at, const void *bytes, size_t count) {
  return (uint8_t *)memcpy(at, bytes, count) + count;
}
#define PUT(at, bytes) (at) = put(at, bytes, sizeof(bytes) - 1)

static void compile(uint8_t *at, int with_frame, uint32_t room) {
  if (with_frame)
    PUT(at, "\x55\x48\x89\xe5"); // push %rbp; mov %rsp, %rbp
  else
    PUT(at, "\x48\x83\xec\x08"); // sub $8, %rsp
  PUT(at, "\x48\x81\xec");       // sub $room, %rsp
  at = put(at, &room, sizeof room);
  PUT(at, "\x48\x89\xf8\x48\x89\xf7\xff\xd0"); // mov %rdi, %rax; mov %rsi, %rdi; call *%rax
  PUT(at, "\x48\x81\xc4");                     // add $room, %rsp
  at = put(at, &room, sizeof room);
  if (with_frame)
    PUT(at, "\x5d\xc3"); // pop %rbp; ret
  else
    PUT(at, "\x48\x83\xc4\x08\xc3"); // add $8, %rsp; ret
}

static uint8_t *compile_all(void) {
  uint8_t *code = mmap(NULL, kFunctions * kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < kFunctions; ++i) {
    compile(code + i * kBytes, random_number(2) != 0, 16 * random_number(20));
    compiled[i] = (Compiled)(uintptr_t)(code + i * kBytes);
  }
  mprotect(code, kFunctions * kBytes, PROT_READ | PROT_EXEC);
  return code;
}

static __attribute__((noinline)) void work(unsigned depth) {
  volatile char filler = 1;
  free(malloc(16 + depth));
  if (depth > 0)
    compiled[random_number(kFunctions)](work, depth - 1);
  free(calloc(1, 100 + depth));
  filler = 2;
  (void)filler;
}

int main(void) {
  for (int round = 0; round < kRounds; ++round) {
    uint8_t *code = compile_all();
    for (int i = 0; i < 60; ++i) {
      work(random_number(5));
      free(malloc(7)); // no compiled function is on the stack here
    }
    munmap(code, kFunctions * kBytes);
  }
  puts("done");
  return 0;
}
