/* What a program says about itself, for a recording by msleaks: its steps, marks, ranges, and who the memory belongs to
 * (docs/api.md). For C99 and C++11 and later, with gcc and clang.
 *
 * This file is all that is needed: it links against nothing. Where no msleaks-run has brought the runtime, each call is
 * a load and a branch that is not taken. It may be copied into another source tree.
 *
 * Any thread may call these, and so may signal handlers. Texts are copied; equal ones are told once. A null text is
 * one that is not known. */
#ifndef MSLEAKS_API_H
#define MSLEAKS_API_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define MSL_API_NOEXCEPT noexcept
#else
#define MSL_API_NOEXCEPT
#endif

/* MSL_API_OFF leaves only empty functions, as where there are no weak symbols of ELF. */
#if defined(__ELF__) && defined(__GNUC__) && !defined(MSL_API_OFF)

/* Visible, or -fvisibility=hidden would make the linker say that there is none. The runtime defines them. */
#ifdef MSL_API_RUNTIME
#define MSL_API_SYMBOL __attribute__((visibility("default")))
#else
#define MSL_API_SYMBOL __attribute__((weak, visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif
MSL_API_SYMBOL void __msl_step(uint64_t number) MSL_API_NOEXCEPT;
MSL_API_SYMBOL void __msl_mark(const char *text) MSL_API_NOEXCEPT;
MSL_API_SYMBOL void __msl_range_push(const char *text) MSL_API_NOEXCEPT;
MSL_API_SYMBOL void __msl_range_pop(void) MSL_API_NOEXCEPT;
MSL_API_SYMBOL uint64_t __msl_range_start(const char *text) MSL_API_NOEXCEPT;
MSL_API_SYMBOL void __msl_range_end(uint64_t id) MSL_API_NOEXCEPT;
MSL_API_SYMBOL void __msl_owner_push(const char *owner) MSL_API_NOEXCEPT;
MSL_API_SYMBOL void __msl_owner_pop(void) MSL_API_NOEXCEPT;
MSL_API_SYMBOL void __msl_watch(const void *block, size_t bytes, const char *name) MSL_API_NOEXCEPT;
MSL_API_SYMBOL void __msl_unwatch(const void *block) MSL_API_NOEXCEPT;
#ifdef __cplusplus
}
#endif

/* From the GOT: only there is a function 0 that nobody defines, and bound to a library that is preloaded. Compilers
 * take it from there but in programs at a fixed address (-fno-pie), where they let the linker fill in 0. */
#if defined(__PIC__) || !defined(__LP64__) || !(defined(__x86_64__) || defined(__aarch64__))
#define MSL_API_FIND(function, name) ((function) = (name))
#elif defined(__x86_64__)
#define MSL_API_FIND(function, name)                                                                                   \
  __asm__(".weak " #name "\n\t{movq " #name "@GOTPCREL(%%rip), %0|mov %0, QWORD PTR " #name "@GOTPCREL[rip]}"          \
          : "=r"(function))
#else
#define MSL_API_FIND(function, name)                                                                                   \
  __asm__(".weak " #name "\n\tadrp %0, :got:" #name "\n\tldr %0, [%0, :got_lo12:" #name "]" : "=r"(function))
#endif

#else
#define MSL_API_FIND(function, name) ((function) = 0)
#endif

#define MSL_API_CALL(name, parameters, arguments)                                                                      \
  do {                                                                                                                 \
    void(*msl_api_function) parameters;                                                                                \
    MSL_API_FIND(msl_api_function, name);                                                                              \
    if (msl_api_function)                                                                                              \
      msl_api_function arguments;                                                                                      \
  } while (0)

/* A training or inference iteration begins, with the program's own number. */
static inline void msl_step(uint64_t number) MSL_API_NOEXCEPT { MSL_API_CALL(__msl_step, (uint64_t), (number)); }

/* The program has come here: "model loaded". */
static inline void msl_mark(const char *text) MSL_API_NOEXCEPT { MSL_API_CALL(__msl_mark, (const char *), (text)); }

/* A range of this thread begins; pop ends the innermost one. A pop without a push is harmless. */
static inline void msl_range_push(const char *text) MSL_API_NOEXCEPT {
  MSL_API_CALL(__msl_range_push, (const char *), (text));
}
static inline void msl_range_pop(void) MSL_API_NOEXCEPT { MSL_API_CALL(__msl_range_pop, (void), ()); }

/* A range that ends by its number, in whatever thread; 0 = it is not recorded. */
static inline uint64_t msl_range_start(const char *text) MSL_API_NOEXCEPT {
  uint64_t (*msl_api_function)(const char *);
  MSL_API_FIND(msl_api_function, __msl_range_start);
  return msl_api_function ? msl_api_function(text) : 0;
}
static inline void msl_range_end(uint64_t id) MSL_API_NOEXCEPT { MSL_API_CALL(__msl_range_end, (uint64_t), (id)); }

/* What this thread allocates from here on belongs to an owner, "framework@component@..."; pop goes back to the one
 * before. A pop without a push is harmless. */
static inline void msl_owner_push(const char *owner) MSL_API_NOEXCEPT {
  MSL_API_CALL(__msl_owner_push, (const char *), (owner));
}
static inline void msl_owner_pop(void) MSL_API_NOEXCEPT { MSL_API_CALL(__msl_owner_pop, (void), ()); }

/* From here on the content of these bytes is compared before and after each range, launch, copy and fill: the report
 * says which one changed them without being given them, and where (docs/watch.md). A pointer to memory of the host, a
 * pointer of a device or a cl_mem. */
static inline void msl_watch(const void *block, size_t bytes, const char *name) MSL_API_NOEXCEPT {
  MSL_API_CALL(__msl_watch, (const void *, size_t, const char *), (block, bytes, name));
}
static inline void msl_unwatch(const void *block) MSL_API_NOEXCEPT {
  MSL_API_CALL(__msl_unwatch, (const void *), (block));
}

#undef MSL_API_CALL
#undef MSL_API_FIND
#undef MSL_API_NOEXCEPT
#ifdef MSL_API_SYMBOL
#undef MSL_API_SYMBOL
#endif

#endif
