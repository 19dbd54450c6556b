// Creates 64 MiB of shared memory and maps it as the arguments select. Writes a byte in each page, prints their sum.
//
//   usage: shared_memory memfd|shm child|twice|forgotten|private
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kBytes = 64 << 20 };

static int make(const char *way) {
  int file;
  if (strcmp(way, "memfd") == 0) {
    file = memfd_create("batches", MFD_CLOEXEC);
  } else {
    char name[64];
    snprintf(name, sizeof name, "/msleaks-test-%d", (int)getpid());
    file = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    shm_unlink(name);
  }
  if (file < 0 || ftruncate(file, kBytes) != 0)
    exit(99);
  return file;
}

static char *show(int file, int how) {
  char *at = mmap(NULL, kBytes, PROT_READ | PROT_WRITE, how, file, 0);
  if (at == MAP_FAILED)
    exit(98);
  return at;
}

int main(int count, char **words) {
  if (count != 3)
    return 2;
  const int file = make(words[1]);
  char *own = show(file, strcmp(words[2], "private") == 0 ? MAP_PRIVATE : MAP_SHARED);
  for (size_t i = 0; i < kBytes; i += 4096)
    own[i] = 1;
  size_t found = 0;
  if (strcmp(words[2], "child") == 0) {
    if (fork() == 0) {
      char *other = show(file, MAP_SHARED);
      for (size_t i = 0; i < kBytes; i += 4096)
        other[i] += 1;
      munmap(other, kBytes);
      _exit(0);
    }
    wait(NULL);
  } else if (strcmp(words[2], "twice") == 0) {
    char *other = show(file, MAP_SHARED);
    for (size_t i = 0; i < kBytes; i += 4096)
      other[i] += 1;
    munmap(other, kBytes);
  }
  for (size_t i = 0; i < kBytes; i += 4096)
    found += (size_t)own[i];
  if (strcmp(words[2], "forgotten") != 0)
    munmap(own, kBytes);
  printf("%zu\n", found);
  return 0;
}
