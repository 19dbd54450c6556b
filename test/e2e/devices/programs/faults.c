// Creates a rare situation around a driver, and prints the outcome. The argument names the situation.
#define _GNU_SOURCE
#include <msleaks/api.h>

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kBytes = 1 << 16, kForks = 20, kPauseUs = 5000, kRounds = 200 };

typedef struct {
  unsigned x, y, z;
} dim3;

static void *library;

static void *find(const char *name) {
  void *function = dlsym(library, name);
  if (function == NULL) {
    printf("no %s\n", name);
    exit(3);
  }
  return function;
}

static void *open_library(const char *path, int flags) {
  library = dlopen(path, flags);
  if (library == NULL) {
    printf("%s\n", dlerror());
    exit(2);
  }
  return library;
}

static void *take(size_t bytes) {
  void *block = NULL;
  const int status = ((int (*)(void **, size_t))find("cudaMalloc"))(&block, bytes);
  if (status != 0)
    printf("no block: %d\n", status);
  return block;
}
static void give(void *block) { printf("free: %d\n", ((int (*)(void *))find("cudaFree"))(block)); }

// This function is the kernel: the driver's stand-in calls it at each launch.
static void fill(void **arguments) { memset(*(void **)arguments[0], *(int *)arguments[1], kBytes); }

static int launch(void *block, int value) {
  void *arguments[] = {&block, &value};
  const dim3 one = {1, 1, 1};
  int (*const start)(const void *, dim3, dim3, void **, size_t, void *) =
      (int (*)(const void *, dim3, dim3, void **, size_t, void *))find("cudaLaunchKernel");
  return start((const void *)(uintptr_t)fill, one, one, arguments, 0, NULL);
}
static int finish(void) { return ((int (*)(void))find("cudaDeviceSynchronize"))(); }

// Looks up a function that this version of the driver lacks. dlsym must return NULL, although a hook has this name.
static void missing(const char *path) {
  open_library(path, RTLD_NOW | RTLD_GLOBAL);
  printf("of the library: %d, of all: %d\n", dlsym(library, "cudaLaunchCooperativeKernel_ptsz") != NULL,
         dlsym(RTLD_DEFAULT, "cudaLaunchCooperativeKernel_ptsz") != NULL);
  give(take(kBytes));
}

static int is_library(struct dl_phdr_info *object, size_t size, void *begin) {
  (void)size;
  if (strstr(object->dlpi_name, "libcudart") == NULL)
    return 0;
  *(uintptr_t *)begin = object->dlpi_addr;
  return 1;
}

// Closes the library, maps a page at its old address, and opens the library again. So the library gets another address.
static void reopened(const char *path) {
  uintptr_t before = 0, after = 0;
  open_library(path, RTLD_NOW);
  dl_iterate_phdr(is_library, &before);
  give(take(kBytes));
  msl_step(1);
  printf("closed: %d\n", dlclose(library));
  printf("there: %d\n", dl_iterate_phdr(is_library, &after));
  msl_step(2);
  mmap((void *)before, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  open_library(path, RTLD_NOW);
  dl_iterate_phdr(is_library, &after);
  printf("elsewhere: %d\n", before != after);
  give(take(2 * kBytes)); // calls the library at its new address
  msl_step(3);
}

static int stop;
static void *launch_always(void *block) {
  for (int i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); ++i)
    if (launch(block, i) != 0)
      abort();
  return NULL;
}

// Forks children while other threads are inside a launch.
static void forks(const char *path) {
  pthread_t threads[2];
  int failed = 0;
  open_library(path, RTLD_NOW);
  void *block = take(kBytes);
  msl_watch(block, kBytes, "launched at");
  for (int i = 0; i < 2; ++i)
    pthread_create(&threads[i], NULL, launch_always, block);
  for (int i = 0; i < kForks; ++i) {
    usleep(kPauseUs); // the other threads launch during this time
    const pid_t child = fork();
    if (child == 0) {
      msl_step(7);
      free(malloc(100));
      exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    failed += status != 0;
  }
  __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], NULL);
  printf("%d children failed\n", failed);
  give(block);
}

// With RTLD_DEEPBIND the linker searches the engine's own libraries first. So the engine's calls bypass the hooks.
static void deepbind(const char *path) {
  void *engine = dlopen(path, RTLD_NOW | RTLD_DEEPBIND);
  if (engine == NULL)
    printf("%s\n", dlerror());
  else
    printf("engine: %d\n", ((int (*)(void))dlsym(engine, "engine_run"))());
}

static pthread_barrier_t barrier;
static void *destroy(void *context) {
  pthread_barrier_wait(&barrier);
  return (void *)(intptr_t)((int (*)(void *))find("cuCtxDestroy_v2"))(context);
}

static void twice(const char *path) {
  open_library(path, RTLD_NOW);
  int (*const create)(void **, unsigned, int) = (int (*)(void **, unsigned, int))find("cuCtxCreate_v2");
  int done = 0;
  pthread_barrier_init(&barrier, NULL, 2);
  for (int round = 0; round < kRounds; ++round) {
    void *context = NULL, *first = NULL;
    pthread_t thread;
    create(&context, 0, 0);
    pthread_create(&thread, NULL, destroy, context);
    const void *second = destroy(context);
    pthread_join(thread, &first);
    done += (first == NULL) + (second == NULL);
  }
  void *kept = NULL;
  create(&kept, 0, 0); // forgotten
  printf("destroyed: %d of %d\n", done, kRounds);
}

// Limits the address space while a watch begins, so msleaks gets no memory for its copy of the device block.
static void full(const char *path) {
  struct rlimit before, none;
  open_library(path, RTLD_NOW);
  void *block = take(1 << 25);
  getrlimit(RLIMIT_AS, &before);
  none = before;
  none.rlim_cur = 1;
  setrlimit(RLIMIT_AS, &none);
  msl_watch(block, 1 << 25, "too large");
  setrlimit(RLIMIT_AS, &before);
  printf("launch: %d %d\n", launch(block, 3), finish());
  give(block);
}

// Frees a watched block. The next block is at the same address, and a launch changes it.
static void freed(const char *path) {
  open_library(path, RTLD_NOW);
  void *block = take(kBytes);
  msl_watch(block, kBytes, "freed");
  printf("launch: %d %d\n", launch(block, 1), finish());
  give(block);
  void *next = take(kBytes);
  printf("at the same address: %d\n", next == block);
  printf("launch: %d %d\n", launch(next, 2), finish());
  give(next);
}

int main(int count, char **arguments) {
  const struct {
    const char *name;
    void (*run)(const char *);
  } topics[] = {{"missing", missing}, {"reopened", reopened}, {"forks", forks}, {"deepbind", deepbind},
                {"twice", twice},     {"full", full},         {"freed", freed}};
  if (count != 3)
    return 1;
  for (unsigned i = 0; i < sizeof topics / sizeof *topics; ++i)
    if (strcmp(arguments[1], topics[i].name) == 0)
      topics[i].run(arguments[2]);
  return 0;
}
