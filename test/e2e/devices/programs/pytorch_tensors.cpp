// Trains in the way of PyTorch on CUDA: weights, activations that live until the backward pass, and a loss that each
// step keeps. Reports memory of the host and of another accelerator, too.
#include "caching_allocator.h"
#include "memory_report.h"

#include <cstdio>
#include <vector>

namespace {

constexpr size_t kMiB = 1 << 20;
std::vector<void *> losses;

void step() {
  void *const activations = c10::cuda::allocate(12 * kMiB); // activations
  losses.push_back(c10::cuda::allocate(100));               // kept loss
  c10::cuda::free(activations);
}

void reportOthers() {
  static char memory[2][64];
  for (const c10::DeviceType type : {c10::DeviceType::CPU, c10::DeviceType::PrivateUse1})
    c10::reportMemoryUsageToProfiler(memory[type != c10::DeviceType::CPU], 64, 64, 64, {type, 0});
}

} // namespace

int main() {
  void *const weights = c10::cuda::allocate(4 * kMiB); // weights
  for (int i = 0; i < 3; ++i)
    step();
  reportOthers();
  c10::cuda::free(weights);
  c10::cuda::emptyCache();
  for (const c10::DeviceType type : {c10::DeviceType::CPU, c10::DeviceType::CUDA, c10::DeviceType::PrivateUse1})
    std::printf("%lld\n", static_cast<long long>(c10::reportedBytes(type)));
}
