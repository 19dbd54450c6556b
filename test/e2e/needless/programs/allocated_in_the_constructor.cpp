// kind: early-allocation
// saves: 8000000
// Modelled on rdiankov/openrave, pull request 1542, "reduce preallocation". An environment allocates the buffer for
// loading in its constructor. The change allocates the buffer just before its use. By then, the memory for planning is
// free again.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

constexpr size_t kBuffer = 8'000'000, kPlan = 30'000'000;

class Environment {
public:
  Environment() {
#ifndef MENDED
    buffer_ = static_cast<char *>(malloc(kBuffer)); // guilty
#endif
  }
  ~Environment() { free(buffer_); }
  __attribute__((noinline)) void plan() {
    char *plan = static_cast<char *>(malloc(kPlan));
    for (size_t i = 0; i < kPlan; ++i)
      plan[i] = static_cast<char>(i);
    usleep(200'000);
    for (size_t i = 0; i < kPlan; ++i)
      sum_ += plan[i];
    free(plan);
    usleep(200'000);
  }
  __attribute__((noinline)) void load() {
#ifdef MENDED
    buffer_ = static_cast<char *>(malloc(kBuffer));
#endif
    memset(buffer_, 4, kBuffer);
    sum_ += buffer_[kBuffer / 2];
  }
  int sum() const { return sum_; }

private:
  char *buffer_ = nullptr;
  int sum_ = 0;
};

int main() {
  Environment environment;
  environment.plan();
  environment.load();
  std::printf("%d\n", environment.sum());
}
