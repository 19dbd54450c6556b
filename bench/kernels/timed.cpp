// Launches each kernel of kernels.cl once without timing, and then ROUNDS times. Prints the kernel's name, and the
// milliseconds of the fastest timed launch.
//
//   usage: timed BITCODE BUILD_OPTIONS ROUNDS
#include "opencl_host.h"

#include <algorithm>
#include <chrono>

namespace {

constexpr size_t kSide = 256, kThreads = 1 << 20, kCollatz = 1 << 18, kBlock = 128;
constexpr int kOne = 0x3f800000; // the bits of the float 1

template <class... Arguments> cl_kernel kernelOf(const Host &host, const char *name, const Arguments &...arguments) {
  cl_kernel made = host.kernel(name);
  unsigned index = 0;
  (Host::set(made, index++, arguments), ...);
  return made;
}

struct Launch {
  const char *name;
  cl_kernel kernel;
  std::vector<size_t> global, local;
};

// Launches the kernel, and returns the milliseconds until it has finished.
double timed(const Host &host, const Launch &launch) {
  const auto begin = std::chrono::steady_clock::now();
  host.launch(launch.kernel, launch.global, launch.local);
  check(clFinish(host.queue), "clFinish");
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

} // namespace

int main(int, char **arguments) {
  const Host host = make(arguments[1], arguments[2]);
  const int rounds = std::atoi(arguments[3]);
  const std::vector<int> ones(kThreads, kOne);
  cl_mem a = host.buffer(ones), b = host.buffer(ones);
  const int side = kSide, threads = kThreads;
  const float factor = 2;
  cl_kernel reduce = kernelOf(host, "reduce", a, b);
  check(clSetKernelArg(reduce, 2, kBlock * sizeof(int), nullptr), "clSetKernelArg");
  const Launch launches[] = {
      {"matmul", kernelOf(host, "matmul", b, a, a, side), {kSide, kSide}, {kBlock, 1}},
      {"collatz", kernelOf(host, "collatz", b), {kCollatz}, {kBlock}},
      {"saxpy", kernelOf(host, "saxpy", b, a, factor, threads), {kThreads}, {kBlock}},
      {"reduce", reduce, {kThreads}, {kBlock}},
  };
  for (const Launch &launch : launches) {
    timed(host, launch);
    double least = timed(host, launch);
    for (int i = 1; i < rounds; ++i)
      least = std::min(least, timed(host, launch));
    std::printf("%s %.4f\n", launch.name, least);
  }
}
