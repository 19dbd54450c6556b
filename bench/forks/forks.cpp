// Forks children, one after the other, and measures the time of a child.
//
//   usage: forks CHILDREN WORK
//
// Each child makes 100 pairs of malloc and free, and WORK million additions. Prints `child cpu X wall Y` in us. X is
// the processor time of one child, plus that of its parent for this child. Y is the real time from the fork to the end
// of the wait.
//
// The program is linked with the output of workloads/dense/generate.py, so it has large tables of sites. If each child
// wrote them into the trace again, the child's time and the trace would be much larger.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct Layer;
void large(Layer *layer, std::size_t n);
void keep(void *) {}
struct Scratch {
  ~Scratch();
};
Scratch::~Scratch() {}

namespace {

double nowUs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

double cpuUs(int who) {
  rusage usage{};
  getrusage(who, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

double cpuUs() { return cpuUs(RUSAGE_SELF) + cpuUs(RUSAGE_CHILDREN); }

void work(int millions) {
  for (int i = 0; i < 100; ++i) {
    void *volatile block = std::malloc(16 + static_cast<std::size_t>(i));
    std::free(block);
  }
  for (volatile long sum = 0; sum < millions * 1'000'000l; sum = sum + 1) {
  }
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 3)
    return std::fputs("usage: forks CHILDREN WORK\n", stderr), 2;
  if (argc > 3)
    large(nullptr, 0); // not called with two arguments; makes the linker keep the generated unit
  const int children = std::atoi(argv[1]), millions = std::atoi(argv[2]);
  work(millions);
  const double begin = nowUs(), cpu_begin = cpuUs();
  for (int i = 0; i < children; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      work(millions);
      std::exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
      return 1;
  }
  const int count = children > 0 ? children : 1;
  std::printf("child cpu %.2f wall %.2f\n", (cpuUs() - cpu_begin) / count, (nowUs() - begin) / count);
}
