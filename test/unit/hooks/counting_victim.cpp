// A test program that launches kernels through counting_driver.c. A kernel may have a copy that counts its edges. The
// program defines the functions of the runtime that the hooks call for counting, so it needs no session. Exit status 0
// means success.
//
//   counting_victim locked    a thread holds the hooks' lock while the program forks
//   counting_victim pending   the program forks while a counted launch runs
//   counting_victim choice    counts how often launches ask the runtime what is to be counted
#include "../graphs/table_bytes.h"

#include "msleaks/abi/device_counts.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <semaphore.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace msleaks;

extern "C" {
int cuModuleGetFunction(void **kernel, void *module, const char *name);
int cuLaunchKernel(void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **each, void **packed);
}

namespace {

constexpr uintptr_t kItself = 0x1000, kCopy = 0x2000, kOther = 0x3000;
constexpr int kCalledInChild = 9;

std::string table;
abi::DeviceKernel described{};
uint64_t counters[2];
abi::CountedLaunches launches{};
uintptr_t last_launched = 0;
unsigned choices = 0;
bool is_ready = true, blocks = false;
int silent_pid = 0; // the process in which the driver must not be called
sem_t entered, may_go;

void describeKernel() {
  table = test::tableOf();
  abi::GraphHeader header;
  std::memcpy(&header, table.data(), sizeof header);
  const uint32_t kernel = abi::kKernel;
  std::memcpy(&table[sizeof header + offsetof(abi::GraphFunction, flags)], &kernel, sizeof kernel);
  header.checksum =
      abi::fnv1a32(reinterpret_cast<const unsigned char *>(table.data()) + sizeof header, table.size() - sizeof header);
  std::memcpy(table.data(), &header, sizeof header);
  described.version = abi::kDeviceCountsVersion;
  described.wave = 32;
  std::snprintf(described.table, sizeof described.table, "__msl_graphs_1");
}

uintptr_t launch(uintptr_t kernel) {
  void *arguments[1] = {};
  cuLaunchKernel(reinterpret_cast<void *>(kernel), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr);
  return last_launched;
}

void find(const char *name) {
  void *kernel;
  cuModuleGetFunction(&kernel, reinterpret_cast<void *>(1), name);
}

// Runs `child` in a forked process, and returns its exit status, or 1000 plus the signal that ended the process.
// SIGALRM ends a process that hangs.
template <class Child> int forked(Child child) {
  constexpr unsigned kHangsAfter = 60;
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::alarm(kHangsAfter);
    std::exit(child());
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

int expect(const char *what, int found, int wanted) {
  if (found != wanted)
    std::printf("%s: %d, not %d\n", what, found, wanted);
  return found == wanted ? 0 : 1;
}

int forkWhileLocked() {
  blocks = true;
  std::thread other([] { launch(kItself); });
  ::sem_wait(&entered);
  blocks = false;
  int wrong = expect("a child that exits", forked([] { return 0; }), 0);
  wrong += expect("a child that launches", forked([] { return launch(kItself) == kItself ? 0 : 1; }), 0);
  wrong += expect("a child that counts", forked([] {
                    find("work");
                    return launch(kItself) == kCopy && launches.counted == 1 ? 0 : 1;
                  }),
                  0);
  ::sem_post(&may_go);
  other.join();
  return wrong + expect("counted launches of the parent", static_cast<int>(launches.counted), 1);
}

int forkWhilePending() {
  const uintptr_t launched = launch(kItself);
  is_ready = false;
  const int status = forked([] {
    silent_pid = ::getpid();
    return 0;
  });
  is_ready = true;
  return expect("the launch", static_cast<int>(launched), kCopy) + expect("a child that exits", status, 0);
}

int askOnce() {
  launch(kItself);
  launch(kOther);
  const unsigned before = choices;
  for (int i = 0; i < 100; ++i) {
    launch(kOther);
    launch(kItself);
  }
  return expect("times that 200 launches asked", static_cast<int>(choices - before), 0);
}

} // namespace

extern "C" {
// counting_driver.c calls these functions.
void calledDriver(const char *) {
  if (silent_pid == ::getpid())
    ::_exit(kCalledInChild);
  if (blocks) {
    ::sem_post(&entered);
    ::sem_wait(&may_go);
  }
}
int isReady() { return is_ready; }
const void *constantOf(const char *name, size_t *bytes) {
  const bool is_kernel = std::strcmp(name, "__msl_kernel_work") == 0;
  *bytes = is_kernel ? sizeof described : table.size();
  return is_kernel ? static_cast<const void *>(&described) : table.data();
}
void launchedKernel(const void *kernel) { last_launched = reinterpret_cast<uintptr_t>(kernel); }

// These functions replace functions of the runtime.
bool __msl_device_choice(abi::DeviceChoice *choice) noexcept {
  ++choices;
  *choice = {static_cast<uint32_t>(abi::CountMode::Full), static_cast<uint32_t>(abi::CountLaunches::Every), 1};
  return true;
}
uint64_t *__msl_device_counters(const abi::GraphHeader *, uint32_t *unit) noexcept {
  *unit = 1;
  return counters;
}
abi::CountedLaunches *__msl_device_launches(uint32_t) noexcept { return &launches; }
void __msl_publish_launches(abi::CountedLaunches *) noexcept {}
}

int main(int, char **words) {
  ::sem_init(&entered, 0, 0);
  ::sem_init(&may_go, 0, 0);
  describeKernel();
  find("work");
  find("other");
  const std::string how = words[1];
  return how == "locked" ? forkWhileLocked() : how == "pending" ? forkWhilePending() : askOnce();
}
