// Launches the kernels of kernels.cl as an ordinary OpenCL program does, and prints the results.
//
//   kernels_host PROGRAM BUILD_OPTIONS LAUNCHES [SIZE]     PROGRAM: a binary, or SPIR-V
#include "programs/opencl_host.h"

namespace {

// Prints how many kernels the program has, as OpenCL reports it. OpenCL must not include the counted copies.
void printKernels(const Host &host) {
  size_t count = 0, bytes = 0;
  check(clGetProgramInfo(host.program, CL_PROGRAM_NUM_KERNELS, sizeof count, &count, nullptr), "NUM_KERNELS");
  check(clGetProgramInfo(host.program, CL_PROGRAM_KERNEL_NAMES, 0, nullptr, &bytes), "KERNEL_NAMES");
  std::string names(bytes, '\0');
  check(clGetProgramInfo(host.program, CL_PROGRAM_KERNEL_NAMES, bytes, names.data(), nullptr), "KERNEL_NAMES");
  cl_uint made = 0;
  check(clCreateKernelsInProgram(host.program, 0, nullptr, &made), "clCreateKernelsInProgram");
  std::vector<cl_kernel> kernels(made);
  check(clCreateKernelsInProgram(host.program, made, kernels.data(), nullptr), "clCreateKernelsInProgram");
  for (cl_kernel kernel : kernels)
    clReleaseKernel(kernel);
  std::printf("kernels %zu %u %zu\n", count, made, names.size());
}

} // namespace

int main(int, char **arguments) {
  const Host host = make(arguments[1], arguments[2]);
  const int launches = std::atoi(arguments[3]);
  const int size = arguments[4] ? std::atoi(arguments[4]) : 1000;
  const size_t threads = (static_cast<size_t>(size) + 63) / 64 * 64;
  if (arguments[4] == nullptr)
    printKernels(host);

  std::vector<int> numbers(threads);
  for (size_t i = 0; i < threads; ++i)
    numbers[i] = static_cast<int>(i * 7 % 11);
  cl_mem x = host.buffer(std::vector<int>(threads, 0x3f800000)), y = host.buffer(std::vector<int>(threads));
  cl_mem in = host.buffer(numbers), sums = host.buffer(std::vector<int>(threads / 64));
  cl_mem chosen = host.buffer(std::vector<int>(threads)), counts = host.buffer(std::vector<int>(threads));

  cl_kernel saxpy = host.kernel("saxpy"), sum = host.kernel("sum");
  cl_kernel choose = host.kernel("choose"), collatz = host.kernel("collatz");
  const float a = 2;
  Host::set(saxpy, 0, y), Host::set(saxpy, 1, x), Host::set(saxpy, 2, a), Host::set(saxpy, 3, size);
  Host::set(sum, 0, in), Host::set(sum, 1, sums);
  check(clSetKernelArg(sum, 2, 64 * sizeof(int), nullptr), "clSetKernelArg");
  Host::set(choose, 0, chosen), Host::set(choose, 1, size);
  cl_kernel rounds = host.kernel("rounds");
  cl_mem summed = host.buffer(std::vector<int>(threads));
  const int round_count = 10;
  Host::set(rounds, 0, summed), Host::set(rounds, 1, round_count);
  const int width = static_cast<int>(threads / 8);
  Host::set(collatz, 0, counts), Host::set(collatz, 1, width);
  for (int i = 0; i < launches; ++i) {
    host.launch(saxpy, {threads}, {64});
    host.launch(sum, {threads}, {64});
    host.launch(choose, {threads}, {});
    host.launch(collatz, {threads / 8, 8}, {8, 2});
    host.launch(rounds, {threads}, {64});
  }
  host.print("saxpy", y, threads);
  host.print("sum", sums, threads / 64);
  host.print("choose", chosen, threads);
  host.print("collatz", counts, threads);
  host.print("rounds", summed, threads);
  for (cl_kernel kernel : {saxpy, sum, choose, rounds})
    clReleaseKernel(kernel); // `collatz` is not released, to test a kernel that still exists at the exit
  clReleaseProgram(host.program);
}
