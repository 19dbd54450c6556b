// Never touches two blocks, fills half of one, and fills one late. In a second run, the argument selects other uses.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

constexpr size_t kBytes = 8 << 20;

char *volatile spare, *volatile half, *volatile late, *volatile other, *volatile mapping;

char *allocateSpare() {
  return static_cast<char *>(malloc(kBytes)); // the spare one
}

int use(const char *how) {
  char *block = spare;
  if (strcmp(how, "read") == 0)
    return block[kBytes / 2]; // reads it
  if (strcmp(how, "thread") == 0)
    std::thread([block] { block[100] = 1; }).join(); // another thread
  if (strcmp(how, "child") == 0) {
    const pid_t child = fork();
    if (child == 0) {
      block[5] = 1; // the child
      _exit(block[5] == 1 ? 0 : 1);
    }
    int status = 0;
    return waitpid(child, &status, 0) == child ? status : 1;
  }
  if (strcmp(how, "kernel") == 0) {
    const int file = open("/dev/zero", O_RDONLY);
    return read(file, block, kBytes) == static_cast<ssize_t>(kBytes) ? 0 : 1; // the kernel
  }
  if (strcmp(how, "list") == 0) {
    const int file = open("/dev/zero", O_RDONLY);
    char small[16];
    const iovec list[] = {{small, sizeof small}, {block + 4096, kBytes - 4096}};
    return readv(file, list, 2) == static_cast<ssize_t>(sizeof small + kBytes - 4096) ? 0 : 1; // a list
  }
  if (strcmp(how, "grow") == 0) {
    spare = static_cast<char *>(realloc(spare, 2 * kBytes));
    return spare[kBytes] == 0 ? 0 : 1; // reads the part that realloc has added
  }
  if (strcmp(how, "mapping") == 0)
    mapping[kBytes - 1] = 1; // touches the last byte of the mapping
  if (strcmp(how, "unmap") == 0) { // unmaps a part of the mapping, and protects another part
    if (munmap(mapping, kBytes / 4) != 0 || mprotect(mapping + kBytes / 2, kBytes / 4, PROT_READ) != 0)
      return 1;
    mapping[kBytes - 1] = mapping[kBytes / 2] + 1;
    return munmap(mapping + kBytes / 4, kBytes - kBytes / 4);
  }
  if (strcmp(how, "remap") == 0) {
    mapping = static_cast<char *>(mremap(mapping, kBytes, 2 * kBytes, MREMAP_MAYMOVE));
    mapping[2 * kBytes - 1] = 1;
    return munmap(mapping, 2 * kBytes);
  }
  if (strcmp(how, "half") == 0)
    memset(half, 2, 2 * kBytes); // fills the whole block
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  spare = allocateSpare();
  void *made = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); // the mapping
  mapping = static_cast<char *>(made);
  half = new char[2 * kBytes]; // half of it
  memset(half, 2, kBytes);
  late = static_cast<char *>(calloc(1, kBytes)); // waits
  if (strcmp(how, "early") == 0)
    memset(late, 1, kBytes); // fills the block right after its allocation
  other = static_cast<char *>(malloc(kBytes));
  memset(other, 4, kBytes);
  usleep(300 * 1000);
  free(other);
  memset(late, 3, kBytes); // at last
  usleep(50 * 1000);
  const int status = use(how);
  printf("used: %s\n", how);
  free(late);
  return status; // msleaks reads the pages of the other blocks once more, since they are alive at the end
}
