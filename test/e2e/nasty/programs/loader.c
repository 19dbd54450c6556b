// Loads and unloads the libraries TIMES times. MODE selects a flag of
// dlopen, or selects that four threads load and unload them concurrently.
//     loader TIMES MODE LIBRARY...          MODE: l RTLD_LOCAL, g RTLD_GLOBAL, d RTLD_DEEPBIND, t from four threads
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int times, flags, used;
static char **libraries;

static void *load(void *unused) {
  for (int i = 0; i < times; ++i)
    for (char **name = libraries; *name; ++name) {
      void *library = dlopen(*name, flags);
      if (!library) {
        puts(dlerror());
        exit(9);
      }
      void *(*take)(size_t) = (void *(*)(size_t))dlsym(library, "take");
      void (*drop)(void *, size_t) = (void (*)(void *, size_t))dlsym(library, "drop");
      drop(take(100), 100);
      __atomic_fetch_add(&used, 1, __ATOMIC_RELAXED);
      dlclose(library);
    }
  return NULL;
}

int main(int count, char **words) {
  if (count < 4)
    return 2;
  times = atoi(words[1]);
  char mode = words[2][0];
  libraries = words + 3;
  flags = mode == 'g' ? RTLD_NOW | RTLD_GLOBAL : mode == 'd' ? RTLD_NOW | RTLD_DEEPBIND : RTLD_LAZY | RTLD_LOCAL;
  if (mode == 't') {
    pthread_t threads[4];
    for (int i = 0; i < 4; ++i)
      pthread_create(&threads[i], NULL, load, NULL);
    for (int i = 0; i < 4; ++i)
      pthread_join(threads[i], NULL);
  } else
    load(NULL);
  void *volatile kept = malloc(60);
  kept = NULL;
  printf("%d\nleaked 60 1\n", used);
  return 0;
}
