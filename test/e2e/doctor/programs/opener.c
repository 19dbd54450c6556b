// Opens libraries and calls work() in each. Usage: opener {HOW LIBRARY}… HOW is a set of letters. d opens the library
// with RTLD_DEEPBIND, m opens it with dlmopen, c closes it afterwards, n does not call work().
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int count, char **arguments) {
  for (int i = 1; i + 1 < count; i += 2) {
    const char *how = arguments[i], *library = arguments[i + 1];
    const int mode = RTLD_LAZY | (strchr(how, 'd') ? RTLD_DEEPBIND : 0);
    void *handle = strchr(how, 'm') ? dlmopen(LM_ID_NEWLM, library, RTLD_NOW) : dlopen(library, mode);
    void (*work)(void) = handle ? (void (*)(void))dlsym(handle, "work") : 0;
    if (work == 0) {
      fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    if (!strchr(how, 'n'))
      work();
    if (strchr(how, 'c'))
      dlclose(handle);
  }
  puts("opened");
  return 0;
}
