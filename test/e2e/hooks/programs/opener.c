// Opens libraries in several ways, and lets them call a runtime library. Each argument is an action:
//
//   l:FILE g:FILE d:FILE n:FILE   opens FILE with RTLD_LOCAL, RTLD_GLOBAL, RTLD_DEEPBIND, or by dlmopen, and uses it
//   o:FILE, use                   opens FILE with RTLD_LOCAL; uses the library that was opened last
//   s:FILE                        opens a runtime library, looks up its functions by dlsym, and calls them
//   default                       looks up cudaMalloc with RTLD_DEFAULT, and calls it
//   close                         closes the library that was opened last
//   fail, message                 looks up a missing function; prints the dynamic linker's last message
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static void *library;
static void (*use)(size_t);
static size_t bytes = 1000;

static void look_up(void) {
  int (*const take)(void **, size_t) = (int (*)(void **, size_t))dlsym(library, "cudaMalloc");
  int (*const give)(void *) = (int (*)(void *))dlsym(library, "cudaFree");
  int (*const owns)(const void *) = (int (*)(const void *))dlsym(library, "runtime_owns");
  int (*const version)(void) = (int (*)(void))dlsym(library, "runtime_version");
  void *kept = NULL, *gone = NULL;
  take(&kept, bytes);
  take(&gone, bytes + 1);
  printf("looked up in version %d: its own blocks: %d %d, free: %d\n", version(), owns(kept), owns(gone), give(gone));
}

static int open_and_use(char how, const char *path) {
  const int flags = how == 'g' ? RTLD_GLOBAL : how == 'd' ? RTLD_DEEPBIND : RTLD_LOCAL;
  library = how == 'n' ? dlmopen(LM_ID_NEWLM, path, RTLD_NOW) : dlopen(path, RTLD_LAZY | flags);
  if (library == NULL) {
    puts(dlerror());
    return 1;
  }
  if (how == 's')
    look_up();
  else
    use = (void (*)(size_t))dlsym(library, "use_runtime");
  if (how != 's' && how != 'o' && use != NULL)
    use(bytes);
  bytes += 10;
  return 0;
}

static void look_everywhere(void) {
  int (*const take)(void **, size_t) = (int (*)(void **, size_t))dlsym(RTLD_DEFAULT, "cudaMalloc");
  void *block = NULL;
  printf("everywhere: %d", take != NULL);
  if (take != NULL)
    take(&block, bytes);
  printf(" %d\n", block != NULL);
  bytes += 10;
}

static void say_message(void) {
  const char *const message = dlerror(), *const symbol = message != NULL ? strstr(message, "undefined") : NULL;
  printf("message: %s\n", symbol != NULL ? symbol : "none");
}

int main(int count, char **words) {
  for (int i = 1; i < count; ++i) {
    if (words[i][1] == ':' && open_and_use(words[i][0], words[i] + 2) != 0)
      return 1;
    if (strcmp(words[i], "use") == 0)
      use(bytes);
    if (strcmp(words[i], "default") == 0)
      look_everywhere();
    if (strcmp(words[i], "close") == 0)
      printf("closed: %d\n", dlclose(library));
    if (strcmp(words[i], "fail") == 0)
      printf("found: %d\n", dlsym(RTLD_DEFAULT, "a_function_that_nobody_has") != NULL);
    if (strcmp(words[i], "message") == 0)
      say_message();
  }
  return 0;
}
