// Launches a counted copy of a kernel with a buffer of counters that this program allocates. The copy
// must add the same numbers whether the counters begin at 0 or their lower halves are about to overflow.
//
//   carry_host PROGRAM BUILD_OPTIONS ROUNDS      ROUNDS: rounds of `spin` (carry.cl) in each thread
#include "opencl_host.h"

#include "msleaks/abi/device_counts.h"

#include <algorithm>
#include <cinttypes>

using namespace msleaks;

namespace {

constexpr size_t kThreads = 256, kGroup = 64, kMostCounters = 16;

struct Counters {
  abi::DeviceCounts header;
  uint64_t counts[kMostCounters];
};

// Launches the copy with counters that begin at `first`. Returns the number that was added to each counter.
std::vector<uint64_t> added(const Host &host, cl_kernel copy, uint64_t first) {
  Counters counters{{abi::kDeviceCountsVersion, abi::CountMode::Full, 0, kMostCounters, 1, 0, 0}, {}};
  std::ranges::fill(counters.counts, first);
  cl_int status;
  cl_mem memory =
      clCreateBuffer(host.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof counters, &counters, &status);
  check(status, "clCreateBuffer");
  Host::set(copy, 2, memory);
  host.launch(copy, {kThreads}, {kGroup});
  check(clEnqueueReadBuffer(host.queue, memory, CL_TRUE, 0, sizeof counters, &counters, 0, nullptr, nullptr),
        "clEnqueueReadBuffer");
  clReleaseMemObject(memory);
  std::vector<uint64_t> more;
  for (const uint64_t count : counters.counts)
    more.push_back(count - first);
  return more;
}

} // namespace

int main(int, char **arguments) {
  const Host host = make(arguments[1], arguments[2]);
  const uint64_t rounds = std::strtoull(arguments[3], nullptr, 0);
  const cl_kernel copy = host.kernel("__msl_counted_spin");
  const cl_mem out = host.buffer(std::vector<int>(2 * kThreads));
  Host::set(copy, 0, out), Host::set(copy, 1, rounds);
  const std::vector<uint64_t> from_zero = added(host, copy, 0);
  for (const uint64_t first : {UINT64_C(0xffffffff), UINT64_C(0xfffffff0), UINT64_C(0x7ffffffff)})
    if (added(host, copy, first) != from_zero) {
      std::printf("counters that began at %" PRIx64 " have got something else\n", first);
      return 1;
    }
  for (const uint64_t count : from_zero)
    std::printf("%" PRIu64 "\n", count);
}
