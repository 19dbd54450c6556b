/* A program calls these functions to name its steps, marks, ranges and owners of memory in a recording by msleaks
 * (docs/api.md). For C99 and C++11 and later, with gcc and clang.
 *
 * A program needs only this file and no library. Outside of msleaks-run each call costs a load and a
 * branch. The file may be copied into another source tree.
 *
 * Any thread and any signal handler may call these functions. The runtime copies each text, and stores equal texts
 * once. A null pointer means that the text is not known. */
#ifndef MSLEAKS_API_H
#define MSLEAKS_API_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define MSL_API_NOEXCEPT noexcept
#else
#define MSL_API_NOEXCEPT
#endif

/* MSL_API_OFF makes all functions empty. They are also empty on a target without ELF, whose weak symbols they need. */
#if defined(__ELF__) && defined(__GNUC__) && !defined(MSL_API_OFF)

/* The runtime defines these symbols. Their visibility is `default`: with -fvisibility=hidden the linker would look for
   them in the program only. */
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
MSL_API_SYMBOL void __msl_own(const void *byte, const char *owner) MSL_API_NOEXCEPT;
MSL_API_SYMBOL void __msl_watch(const void *block, size_t bytes, const char *name) MSL_API_NOEXCEPT;
MSL_API_SYMBOL void __msl_unwatch(const void *block) MSL_API_NOEXCEPT;
MSL_API_SYMBOL int __msl_is_recording(void) MSL_API_NOEXCEPT;
#ifdef __cplusplus
}
#endif

/* Sets `function` to the address of the runtime's function `name`, or to 0 if the process has no runtime. The dynamic
 * linker stores this address in the GOT. In a program at a fixed address (-fno-pie) the compiler does not read the GOT,
 * and the static linker inserts 0. So this assembly code reads the GOT. */
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

/* A training or inference iteration begins. `number` is the program's own number of the iteration. */
static inline void msl_step(uint64_t number) MSL_API_NOEXCEPT { MSL_API_CALL(__msl_step, (uint64_t), (number)); }

/* The program has reached a point that it names, such as "model loaded". */
static inline void msl_mark(const char *text) MSL_API_NOEXCEPT { MSL_API_CALL(__msl_mark, (const char *), (text)); }

/* A range of this thread begins. msl_range_pop ends the innermost range. A pop without a push has no effect. */
static inline void msl_range_push(const char *text) MSL_API_NOEXCEPT {
  MSL_API_CALL(__msl_range_push, (const char *), (text));
}
static inline void msl_range_pop(void) MSL_API_NOEXCEPT { MSL_API_CALL(__msl_range_pop, (void), ()); }

/* A range begins. Any thread may end the range with the number that this function returns. If the range is not
   recorded, the number is 0. */
static inline uint64_t msl_range_start(const char *text) MSL_API_NOEXCEPT {
  uint64_t (*msl_api_function)(const char *);
  MSL_API_FIND(msl_api_function, __msl_range_start);
  return msl_api_function ? msl_api_function(text) : 0;
}
static inline void msl_range_end(uint64_t id) MSL_API_NOEXCEPT { MSL_API_CALL(__msl_range_end, (uint64_t), (id)); }

/* From now on, allocations of this thread belong to this owner ("framework@component@..."). msl_owner_pop restores the
 * previous owner. A pop without a push has no effect. */
static inline void msl_owner_push(const char *owner) MSL_API_NOEXCEPT {
  MSL_API_CALL(__msl_owner_push, (const char *), (owner));
}
static inline void msl_owner_pop(void) MSL_API_NOEXCEPT { MSL_API_CALL(__msl_owner_pop, (void), ()); }

/* The live block that contains this byte belongs to this owner, whichever thread has allocated the block. `byte` is an
 * address in the program's memory or on a device. A null `owner` means that the block belongs to no owner. */
static inline void msl_own(const void *byte, const char *owner) MSL_API_NOEXCEPT {
  MSL_API_CALL(__msl_own, (const void *, const char *), (byte, owner));
}

/* From now on, the runtime compares the content of these bytes before and after each range, launch, copy and fill. The
 * report names each operation that changed the bytes although they are not its arguments (docs/watch.md). The address
 * is a pointer to host memory, a device pointer, or a cl_mem. */
static inline void msl_watch(const void *block, size_t bytes, const char *name) MSL_API_NOEXCEPT {
  MSL_API_CALL(__msl_watch, (const void *, size_t, const char *), (block, bytes, name));
}
static inline void msl_unwatch(const void *block) MSL_API_NOEXCEPT {
  MSL_API_CALL(__msl_unwatch, (const void *), (block));
}

/* Whether the session of this process records now: 1, or 0 without msleaks-run and while recording is stopped. */
static inline int msl_is_recording(void) MSL_API_NOEXCEPT {
  int (*msl_api_function)(void);
  MSL_API_FIND(msl_api_function, __msl_is_recording);
  return msl_api_function ? msl_api_function() : 0;
}

#undef MSL_API_CALL
#undef MSL_API_FIND
#undef MSL_API_NOEXCEPT
#ifdef MSL_API_SYMBOL
#undef MSL_API_SYMBOL
#endif

#endif
