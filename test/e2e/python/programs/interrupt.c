// Interrupts the process up to 5,000 times a second, as a profiler does. The handler allocates. It begins when the
// library is loaded.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>

static volatile unsigned long in_python, elsewhere;
unsigned long interruptionsOfPython(void) { return in_python; }
unsigned long otherInterruptions(void) { return elsewhere; }

enum { kKeptBytes = 7001 }; // the handler keeps some blocks of this size
static timer_t exact_timer;

void endInterruptions(void) {
  const struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_PROF, &never, NULL);
  timer_delete(exact_timer);
  signal(SIGPROF, SIG_IGN);
}

static uintptr_t python_begin, python_end; // the code of CPython

static int findPython(struct dl_phdr_info *image, size_t size, void *function) {
  (void)size;
  for (int i = 0; i < image->dlpi_phnum; ++i) {
    const ElfW(Phdr) *header = &image->dlpi_phdr[i];
    const uintptr_t begin = image->dlpi_addr + header->p_vaddr;
    if (header->p_type != PT_LOAD || (uintptr_t)function - begin >= header->p_memsz)
      continue;
    python_begin = begin;
    python_end = begin + header->p_memsz;
    return 1;
  }
  return 0;
}

static uintptr_t interruptedAt(const ucontext_t *context) {
#if defined(__x86_64__)
  return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#else
  return context->uc_mcontext.pc;
#endif
}

// The handler may call malloc only if it has not interrupted malloc. So it does in code of CPython.
static void allocate(int signal, siginfo_t *info, void *context) {
  (void)signal;
  (void)info;
  void *mapped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped != MAP_FAILED)
    munmap(mapped, 4096);
  if (interruptedAt(context) - python_begin >= python_end - python_begin) {
    ++elsewhere;
    return;
  }
  ++in_python;
  for (size_t bytes = 24; bytes < 10000; bytes *= 7) {
    volatile char *block = malloc(bytes);
    if (block != NULL)
      block[0] = 1;
    free((void *)block);
  }
  static volatile char *kept;
  if (in_python % 8 == 1 && (kept = malloc(kKeptBytes)) != NULL)
    kept[0] = 1;
}

__attribute__((constructor)) static void begin(void) {
  dl_iterate_phdr(findPython, dlsym(RTLD_DEFAULT, "_PyEval_EvalFrameDefault"));
  struct sigaction action = {.sa_flags = SA_RESTART | SA_SIGINFO};
  action.sa_sigaction = allocate;
  sigaction(SIGPROF, &action, NULL);
  const struct itimerval often = {{0, 200}, {0, 200}};
  setitimer(ITIMER_PROF, &often, NULL);
  // That timer is only as exact as the kernel's clock, often 4 ms. This one is exact.
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
  const struct itimerspec exact = {{0, 200000}, {0, 200000}};
  if (timer_create(CLOCK_MONOTONIC, &event, &exact_timer) == 0)
    timer_settime(exact_timer, 0, &exact, NULL);
}
