// Imitates cuFFT. A new plan gets the lowest free number. With STANDIN_HIP, it imitates hipFFT, whose plans are
// pointers.
#include "../common/refusal.h"

#include <mutex>
#include <set>

namespace {

std::mutex mutex;
auto &plans = *new std::set<int>;

int makeNumber(int *made) {
  const std::lock_guard lock(mutex);
  int free = 1;
  while (plans.contains(free))
    ++free;
  plans.insert(free);
  *made = free;
  return 0;
}
int destroyNumber(int plan) {
  const std::lock_guard lock(mutex);
  return plans.erase(plan) != 0 ? 0 : 1;
}

} // namespace

#ifdef STANDIN_HIP
#define NAME(name) hipfft##name
using Plan = void *;
static int make(Plan *made) {
  int number;
  makeNumber(&number);
  *made = reinterpret_cast<void *>(0x1000L * number);
  return 0;
}
static int destroy(Plan plan) { return destroyNumber(static_cast<int>(reinterpret_cast<long>(plan) / 0x1000)); }
#else
#define NAME(name) cufft##name
using Plan = int;
static int make(Plan *made) { return makeNumber(made); }
static int destroy(Plan plan) { return destroyNumber(plan); }
#endif

extern "C" {
int NAME(Create)(Plan *plan) {
  STANDIN_MAY_REFUSE();
  return make(plan);
}
int NAME(Plan1d)(Plan *plan, int size, int, int) {
  STANDIN_MAY_REFUSE();
  return size > 0 ? make(plan) : 8;
}
int NAME(Plan2d)(Plan *plan, int, int, int) {
  STANDIN_MAY_REFUSE();
  return make(plan);
}
int NAME(Plan3d)(Plan *plan, int, int, int, int) {
  STANDIN_MAY_REFUSE();
  return make(plan);
}
int NAME(PlanMany)(Plan *plan, int, int *, int *, int, int, int *, int, int, int, int) {
  STANDIN_MAY_REFUSE();
  return make(plan);
}
int NAME(Destroy)(Plan plan) {
  STANDIN_MAY_REFUSE();
  return destroy(plan);
}
}
