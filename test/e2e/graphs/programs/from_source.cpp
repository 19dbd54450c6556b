// Passes source text of kernels to the OpenCL driver. Prints what the driver reports about the builds, and the results.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <csignal>
#include <cstdio>
#include <string>
#include <sys/wait.h>
#include <vector>

namespace {

volatile sig_atomic_t children = 0;

constexpr char kGood[] = R"(
#ifndef cl_khr_fp64
#error the device has it
#endif
kernel void twice(global int *a, int n) { int i = get_global_id(0); if (i < n) a[i] = a[i] * FACTOR; }
kernel void again(global int *a) { a[get_global_id(0)] += __OPENCL_VERSION__ >= 120; }
)";
constexpr char kBad[] = "kernel void twice(global int *a) { a[0] = nothing; }";

std::string logOf(cl_program program, cl_device_id device) {
  size_t bytes = 0;
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes);
  std::string text(bytes, 0);
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, bytes, text.data(), nullptr);
  return text;
}

std::string infoOf(cl_program program, cl_program_info what) {
  size_t bytes = 0;
  clGetProgramInfo(program, what, 0, nullptr, &bytes);
  std::string text(bytes, 0);
  clGetProgramInfo(program, what, bytes, text.data(), nullptr);
  return text.c_str();
}

cl_program made(cl_context context, const char *text) {
  return clCreateProgramWithSource(context, 1, &text, nullptr, nullptr);
}

void run(cl_command_queue queue, cl_kernel kernel, size_t threads) {
  clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &threads, nullptr, 0, nullptr, nullptr);
  clFinish(queue);
}

} // namespace

int main() {
  std::signal(SIGCHLD, [](int) { children = children + 1; });
  cl_platform_id platform;
  cl_device_id device;
  if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) {
    std::fprintf(stderr, "no OpenCL device\n");
    return 77;
  }
  const cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
  const cl_command_queue queue = clCreateCommandQueue(context, device, 0, nullptr);

  const cl_program bad = made(context, kBad);
  std::printf("bad: %d\n", clBuildProgram(bad, 1, &device, "", nullptr, nullptr));
  std::printf("has a log: %d\n", logOf(bad, device).find("nothing") != std::string::npos);
  clReleaseProgram(bad);

  const cl_program program = made(context, kGood);
  std::printf("good: %d\n", clBuildProgram(program, 0, nullptr, "-D FACTOR=2", nullptr, nullptr));
  // The builds must leave no child process. PoCL itself starts a linker, but only at the first launch of a kernel.
  std::printf("children: %d, waited for: %d\n", static_cast<int>(children),
              static_cast<int>(waitpid(-1, nullptr, WNOHANG)));
  std::printf("kernels: %s\nsource: %zu bytes\n", infoOf(program, CL_PROGRAM_KERNEL_NAMES).c_str(),
              infoOf(program, CL_PROGRAM_SOURCE).size());
  std::vector<int> content(64, 3);
  cl_mem memory = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, 256, content.data(), nullptr);
  const cl_int count = 60;
  cl_kernel twice = clCreateKernel(program, "twice", nullptr), again = clCreateKernel(program, "again", nullptr);
  for (cl_kernel kernel : {twice, again})
    clSetKernelArg(kernel, 0, sizeof memory, &memory);
  clSetKernelArg(twice, 1, sizeof count, &count);
  run(queue, twice, 64);
  run(queue, again, 64);
  clReleaseKernel(twice);
  clReleaseKernel(again);

  // Builds the program again, with another option.
  std::printf("again: %d\n", clBuildProgram(program, 1, &device, "-D FACTOR=5", nullptr, nullptr));
  twice = clCreateKernel(program, "twice", nullptr);
  clReleaseProgram(program); // the program stays alive, since the kernel refers to it
  clSetKernelArg(twice, 0, sizeof memory, &memory);
  clSetKernelArg(twice, 1, sizeof count, &count);
  run(queue, twice, 32);
  clReleaseKernel(twice);

  clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, 256, content.data(), 0, nullptr, nullptr);
  std::printf("results: %d %d %d\n", content[0], content[40], content[63]);
  clReleaseMemObject(memory);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return 0;
}
