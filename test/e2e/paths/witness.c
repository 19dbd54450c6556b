// A library that is preloaded after msleaks' hooks, so the hooks call its allocation functions. For a random sample of
// these calls the library writes the call path that libunwind finds. compare_paths compares it with msleaks' path.
//
//   MSL_WITNESS=FOLDER     folder for one file per process, named by the pid (witness.h)
//   MSL_WITNESS_ONE_IN=N   one of N allocations is written (default 1)
//   MSL_WITNESS_SEED=N     selects another sample
#define _GNU_SOURCE
#include "witness.h"

#define UNW_LOCAL_ONLY
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libunwind.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);

// Functions of libunwind, found by dlsym. libunwind and the C++ unwinder define functions with the same names. If this
// library were linked with libunwind, the program's exceptions would use libunwind's functions.
static struct {
  int (*init)(unw_cursor_t *, unw_context_t *);
  int (*step)(unw_cursor_t *);
  int (*get)(unw_cursor_t *, int, unw_word_t *);
  int (*describe)(unw_cursor_t *, unw_proc_info_t *);
} unwinder;

static int file = -1;
static pid_t process;
static uint64_t one_in = 1, seed;
static atomic_ullong allocations;
static atomic_flag writing = ATOMIC_FLAG_INIT;
// This flag is set while a sample is written. Then no allocation of libunwind or of a signal handler is sampled.
static _Thread_local int busy __attribute__((tls_model("initial-exec")));

static int is_chosen(void) {
  uint64_t x = atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed) + seed * 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return (x ^ x >> 31) % one_in == 0;
}

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int write_image(struct dl_phdr_info *object, size_t size, void *unused) {
  (void)size, (void)unused;
  struct {
    struct Image image;
    char name[4096];
  } record = {.image = {.kind = WITNESS_IMAGE, .bias = object->dlpi_addr, .begin = UINT64_MAX}};
  if (*object->dlpi_name != '\0')
    strncpy(record.name, object->dlpi_name, sizeof record.name - 1);
  else if (readlink("/proc/self/exe", record.name, sizeof record.name - 1) < 0)
    return 0;
  for (const ElfW(Phdr) *header = object->dlpi_phdr; header < object->dlpi_phdr + object->dlpi_phnum; ++header) {
    if (header->p_type != PT_LOAD)
      continue;
    const uint64_t begin = object->dlpi_addr + header->p_vaddr, end = begin + header->p_memsz;
    record.image.begin = begin < record.image.begin ? begin : record.image.begin;
    record.image.end = end > record.image.end ? end : record.image.end;
  }
  record.image.name_bytes = (strlen(record.name) / 8 + 1) * 8;
  return write(file, &record, sizeof record.image + record.image.name_bytes) < 0;
}

static int count_changes(struct dl_phdr_info *object, size_t size, void *changes) {
  (void)size;
  *(uint64_t *)changes = object->dlpi_adds + object->dlpi_subs;
  return 1;
}

// Writes the list of all images, if an image was loaded or unloaded since the last list.
static void write_images(void) {
  static uint64_t known;
  uint64_t changes = 0;
  dl_iterate_phdr(count_changes, &changes);
  if (changes == known)
    return;
  known = changes;
  const uint64_t begin = WITNESS_IMAGES;
  if (write(file, &begin, sizeof begin) == sizeof begin)
    dl_iterate_phdr(write_image, NULL);
}

// Returns whether libunwind has an unwind table for the function. Without one, libunwind guesses the caller from the
// frame pointer, and describes the function with a size of one byte.
static int has_table(unw_cursor_t *cursor) {
  unw_proc_info_t found;
  return unwinder.describe(cursor, &found) == 0 && found.end_ip - found.start_ip > 1;
}

static int walk_from(unw_context_t *context, struct Sample *sample) {
  unw_cursor_t cursor;
  unw_word_t address;
  int step = unwinder.init(&cursor, context) == 0;
  while (step > 0 && sample->count < WITNESS_MOST_CALLS && (step = unwinder.step(&cursor)) > 0) {
    if (unwinder.get(&cursor, UNW_REG_IP, &address) != 0 || address == 0)
      return step;
    sample->calls[sample->count++] = address | (has_table(&cursor) ? 0 : WITNESS_NO_TABLE);
  }
  return step;
}

static void walk(struct Sample *sample) {
  unw_context_t context;
  sample->count = 0;
  getcontext(&context);
  sample->ended = walk_from(&context, sample) == 0;
}

__attribute__((noinline)) static void write_down(const void *block, size_t size) {
  static struct Sample sample = {.kind = WITNESS_SAMPLE};
  const int kept = errno;
  while (atomic_flag_test_and_set_explicit(&writing, memory_order_acquire))
    ;
  write_images();
  sample.address = (uint64_t)(uintptr_t)block;
  sample.size = size;
  sample.thread = (uint64_t)syscall(SYS_gettid);
  sample.before_ns = now_ns();
  walk(&sample);
  sample.after_ns = now_ns();
  if (write(file, &sample, offsetof(struct Sample, calls) + sample.count * sizeof *sample.calls) < 0)
    file = -1;
  atomic_flag_clear_explicit(&writing, memory_order_release);
  errno = kept;
}

static inline void *seen(void *block, size_t size) {
  if (block == NULL || file < 0 || busy || !is_chosen() || getpid() != process)
    return block;
  busy = 1;
  write_down(block, size);
  busy = 0;
  return block;
}

void *malloc(size_t size) { return seen(__libc_malloc(size), size); }
void *calloc(size_t count, size_t size) { return seen(__libc_calloc(count, size), count * size); }
void *realloc(void *block, size_t size) { return seen(__libc_realloc(block, size), size); }
void *memalign(size_t alignment, size_t size) { return seen(__libc_memalign(alignment, size), size); }
void *aligned_alloc(size_t alignment, size_t size) { return seen(__libc_memalign(alignment, size), size); }
int posix_memalign(void **where, size_t alignment, size_t size) {
  if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0)
    return EINVAL;
  void *block = seen(__libc_memalign(alignment, size), size);
  if (block == NULL)
    return ENOMEM;
  *where = block;
  return 0;
}

static uint64_t number_of(const char *variable, uint64_t otherwise) {
  const char *text = getenv(variable);
  return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

__attribute__((constructor)) static void begin(void) {
  const char *folder = getenv("MSL_WITNESS");
  void *library = folder != NULL ? dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL) : NULL;
  if (library == NULL)
    return;
  *(void **)&unwinder.init = dlsym(library, TEXT(unw_init_local));
  *(void **)&unwinder.step = dlsym(library, TEXT(unw_step));
  *(void **)&unwinder.get = dlsym(library, TEXT(unw_get_reg));
  *(void **)&unwinder.describe = dlsym(library, TEXT(unw_get_proc_info));
  one_in = number_of("MSL_WITNESS_ONE_IN", 1);
  seed = number_of("MSL_WITNESS_SEED", 0);
  process = getpid();
  char name[4096];
  snprintf(name, sizeof name, "%s/%d", folder, process);
  const int opened = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  if (opened < 0)
    return;
  // Uses a high descriptor number, since the program may close low numbers, or count its open descriptors.
  const int moved = fcntl(opened, F_DUPFD_CLOEXEC, 900);
  close(opened);
  file = moved;
}
