// Makes mappings and touches each of them. `HOW` is one of
//   ended COUNT   each mapping ends before the next one begins. Fails if more than 100 new regions of memory are left
//   alive COUNT   no mapping ends
//   starts COUNT  no mapping ends, and the process starts another program by vfork
//   replaced      eight threads execute another program at the same time
//   protected     closes a page of a touched block itself, touches the page, and opens it in a signal handler
//   executed      calls a function in a block that is not executable
//   huge          makes one mapping that is too large for the address range of guarded blocks
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static char *map(size_t bytes) {
  void *made = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return made == MAP_FAILED ? NULL : made;
}

static int regions(void) {
  char text[4096];
  int count = 0;
  const int file = open("/proc/self/maps", O_RDONLY);
  for (ssize_t length; (length = read(file, text, sizeof text)) > 0;)
    for (ssize_t at = 0; at < length; ++at)
      count += text[at] == '\n';
  close(file);
  return count;
}

static char *block;

static void open_block(int signal) {
  (void)signal;
  mprotect(block, 4096, PROT_READ | PROT_WRITE);
}

static void *replace(void *unused) {
  (void)unused;
  execlp("true", "true", (char *)NULL);
  return NULL;
}

int main(int argc, char **argv) {
  const size_t bytes = 5 * 4096;
  if (argc == 2 && strcmp(argv[1], "huge") == 0) {
    char *mapping = map(((size_t)1 << 40) - 4096);
    if (mapping == NULL)
      return 1;
    mapping[0] = 1;
    return 0;
  }
  if (argc == 2 && strcmp(argv[1], "replaced") == 0) {
    pthread_t thread;
    for (int i = 0; i < 8; ++i)
      pthread_create(&thread, NULL, replace, NULL);
    pause();
  }
  if (argc == 2 && strcmp(argv[1], "protected") == 0) {
    block = aligned_alloc(4096, 5 * 4096);
    if (block == NULL)
      return 1;
    block[0] = 1;
    signal(SIGSEGV, open_block);
    mprotect(block, 4096, PROT_READ);
    block[0] = 2;
    return block[0] == 2 ? 0 : 4;
  }
  if (argc == 2 && strcmp(argv[1], "executed") == 0) {
    block = malloc(bytes);
    if (block == NULL)
      return 1;
    block[0] = 1;
    ((void (*)(void))block)();
    return 0;
  }
  const int before = regions();
  for (int left = argc == 3 ? atoi(argv[2]) : 0; left > 0; --left) {
    char *mapping = map(bytes);
    if (mapping == NULL)
      return 1;
    mapping[0] = 1;
    if (strcmp(argv[1], "ended") == 0 && munmap(mapping, bytes) != 0)
      return 1;
  }
  if (strcmp(argv[1], "ended") == 0 && regions() > before + 100)
    return 2;
  char *const words[] = {"true", NULL};
  pid_t child;
  if (strcmp(argv[1], "starts") == 0 &&
      (posix_spawnp(&child, words[0], NULL, NULL, words, NULL) != 0 || waitpid(child, NULL, 0) != child))
    return 3;
  return 0;
}
