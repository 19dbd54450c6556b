#include "drivers.h"

#include "label_table.h"
#include "ring.h"
#include "system.h"

#include "msleaks/runtime/clock.h"

#include <atomic>
#include <cstddef>

namespace msleaks::runtime {
namespace {

constexpr uint64_t kNsPerMs = 1'000'000;
// The shortest pause between two calls of a driver. After a refused allocation, the next call needs no pause.
constexpr uint64_t kPauseNs = 20 * kNsPerMs;
constexpr uint64_t kShareOfTime = 50; // the pause is at least this multiple of one call's time
// The driver is called after each block of at least this size, and after every kSmallBlocks-th block.
constexpr uint64_t kLargeBytes = 1 << 20;
constexpr uint32_t kSmallBlocks = 64;

struct Driver {
  std::atomic<const hook::Device *> functions{nullptr};
  std::atomic<uint64_t> next_ns{0}; // the driver is not called before this time
  std::atomic<uint32_t> blocks{0};  // approximate number of allocated blocks
  std::atomic<bool> is_checked{false};
  std::atomic<uint32_t> process{0}; // pid of the first process that has used the driver
};
constinit Driver drivers[static_cast<unsigned>(abi::Family::Count)]{};

Driver &driver(abi::Family family) noexcept { return drivers[static_cast<unsigned>(family)]; }

// Whether this process is a fork's child, and an ancestor used the driver before the fork. The child has no memory of
// the device. A call of the driver in the child may wait forever for a lock that another thread of the parent held
// during the fork.
bool isOfParent(Driver &asked) noexcept {
  const uint32_t own = processId();
  uint32_t known = 0;
  return !asked.process.compare_exchange_strong(known, own, std::memory_order_relaxed) && known != own;
}

// Whether this thread may call the driver now. This is true for one thread in each pause.
bool isTurn(Driver &asked, uint64_t now_ns) noexcept {
  uint64_t next = asked.next_ns.load(std::memory_order_relaxed);
  return now_ns >= next && asked.next_ns.compare_exchange_strong(next, now_ns + kPauseNs, std::memory_order_relaxed);
}

// Whether the struct has the field at this offset. In an older hook library the struct ends before newer fields.
bool has(const hook::Device &functions, size_t offset) noexcept { return functions.bytes > offset; }

void recordInUse(Thread &thread, uint32_t device, const char *label, uint64_t bytes) noexcept {
  record(thread,
         abi::CounterEvent{{abi::EventKind::Counter, abi::Heap::Device, device, 0, 0, 0}, labelOf(label), bytes});
}

void ask(abi::Family family) noexcept {
  Thread &thread = __msl_thread;
  Driver &asked = driver(family);
  const hook::Device *functions = driverOf(family);
  if (functions == nullptr || functions->memory == nullptr || isInside(thread, family) || isSandboxed() ||
      !isEnabled(abi::EventKind::Counter))
    return;
  const ErrnoKept kept;
  const uint64_t began_ns = monotonicNs();
  if (!isTurn(asked, began_ns) || isOfParent(asked))
    return;
  uint64_t free = 0, total = 0, managed = 0;
  int32_t status = 0;
  bool is_managed = false;
  {
    const Inside inside(thread, insideOf(family));
    status = functions->memory(&free, &total);
    is_managed = has(*functions, offsetof(hook::Device, managed)) && functions->managed != nullptr &&
                 functions->managed(&managed) == 0;
  }
  const uint64_t took_ns = monotonicNs() - began_ns;
  if (took_ns * kShareOfTime > kPauseNs)
    asked.next_ns.store(began_ns + took_ns * kShareOfTime, std::memory_order_relaxed);
  if (status != 0 || free > total)
    return;
  const uint32_t device = chosenDevice(thread, family);
  recordInUse(thread, device, "driver: bytes in use", total - free);
  if (is_managed)
    recordInUse(thread, device, "manager: bytes in use", managed);
}

void checkVersions(abi::Family family) noexcept {
  const hook::Device *functions = driverOf(family);
  if (functions == nullptr || !has(*functions, offsetof(hook::Device, checkVersions)) ||
      functions->checkVersions == nullptr || driver(family).is_checked.exchange(true, std::memory_order_relaxed))
    return;
  const ErrnoKept kept;
  const Inside inside(__msl_thread, insideOf(family));
  functions->checkVersions();
}

} // namespace

const hook::Device *driverOf(abi::Family family) noexcept {
  return driver(family).functions.load(std::memory_order_acquire);
}

// Does not call the driver after an allocation in stream order, since the stream may be in capture mode.
void deviceAllocated(abi::Traits row, uint64_t bytes) noexcept {
  Driver &of = driver(row.family());
  const uint32_t before = of.blocks.load(std::memory_order_relaxed);
  of.blocks.store(before + 1, std::memory_order_relaxed);
  if (before == 0) [[unlikely]]
    checkVersions(row.family());
  if ((bytes >= kLargeBytes || before % kSmallBlocks == 0) && (row.flags() & abi::kAsync) == 0) [[unlikely]]
    ask(row.family());
}

void deviceRefused(abi::Traits row) noexcept {
  driver(row.family()).next_ns.store(0, std::memory_order_relaxed);
  ask(row.family());
}

void stepBegins() noexcept {
  for (unsigned family = 0; family < static_cast<unsigned>(abi::Family::Count); ++family)
    if (drivers[family].blocks.load(std::memory_order_relaxed) != 0)
      ask(static_cast<abi::Family>(family));
}

} // namespace msleaks::runtime

using namespace msleaks;
using namespace msleaks::runtime;

void __msl_hook_driver(const hook::Device *device) noexcept {
  constexpr uint32_t kOfFirstVersion = offsetof(hook::Device, checkVersions);
  if (device->bytes >= kOfFirstVersion && device->family < static_cast<uint32_t>(abi::Family::Count))
    drivers[device->family].functions.store(device, std::memory_order_release);
}
