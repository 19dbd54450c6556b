// How long each kernel of kernels.cl takes: name and milliseconds a launch, the least of ROUNDS, behind one that is not
// timed.
//
//   timed BITCODE BUILD_OPTIONS ROUNDS
#define CL_TARGET_OPENCL_VERSION 210
#include <CL/cl.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

constexpr int kSkipped = 77;
constexpr size_t kSide = 256, kThreads = 1 << 20, kCollatz = 1 << 18, kBlock = 128;

void check(cl_int status, const char *what) {
  if (status == CL_SUCCESS)
    return;
  std::fprintf(stderr, "%s: OpenCL error %d\n", what, status);
  std::exit(1);
}

class Device {
public:
  Device(const char *path, const char *options) {
    cl_platform_id platform;
    if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device_, nullptr) != CL_SUCCESS) {
      std::fprintf(stderr, "no OpenCL device\n");
      std::exit(kSkipped);
    }
    cl_int status;
    context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &status);
    check(status, "clCreateContext");
    queue_ = clCreateCommandQueueWithProperties(context_, device_, nullptr, &status);
    check(status, "clCreateCommandQueue");
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    const auto *begin = reinterpret_cast<const unsigned char *>(bytes.data());
    const size_t size = bytes.size();
    program_ = clCreateProgramWithBinary(context_, 1, &device_, &size, &begin, nullptr, &status);
    check(status, "clCreateProgramWithBinary");
    check(clBuildProgram(program_, 1, &device_, options, nullptr, nullptr), "clBuildProgram");
  }

  cl_mem buffer(size_t words) const {
    const std::vector<float> content(words, 1);
    cl_int status;
    cl_mem made = clCreateBuffer(context_, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, words * sizeof(float),
                                 const_cast<float *>(content.data()), &status);
    check(status, "clCreateBuffer");
    return made;
  }

  template <class... Arguments> cl_kernel kernel(const char *name, const Arguments &...arguments) const {
    cl_int status;
    cl_kernel made = clCreateKernel(program_, name, &status);
    check(status, name);
    cl_uint index = 0;
    (check(clSetKernelArg(made, index++, sizeof arguments, &arguments), name), ...);
    return made;
  }

  // Milliseconds, from the call until it is done.
  double launch(cl_kernel kernel, const std::vector<size_t> &global, const std::vector<size_t> &local) const {
    const auto begin = std::chrono::steady_clock::now();
    check(clEnqueueNDRangeKernel(queue_, kernel, static_cast<cl_uint>(global.size()), nullptr, global.data(),
                                 local.data(), 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
    check(clFinish(queue_), "clFinish");
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  }

private:
  cl_device_id device_;
  cl_context context_;
  cl_command_queue queue_;
  cl_program program_;
};

} // namespace

int main(int, char **arguments) {
  const Device device(arguments[1], arguments[2]);
  const int rounds = std::atoi(arguments[3]);
  cl_mem a = device.buffer(kThreads), b = device.buffer(kThreads);
  const int side = kSide, threads = kThreads;
  const float factor = 2;
  cl_kernel reduce = device.kernel("reduce", a, b);
  check(clSetKernelArg(reduce, 2, kBlock * sizeof(int), nullptr), "clSetKernelArg");
  const struct {
    const char *name;
    cl_kernel kernel;
    std::vector<size_t> global, local;
  } launches[] = {
      {"matmul", device.kernel("matmul", b, a, a, side), {kSide, kSide}, {kBlock, 1}},
      {"collatz", device.kernel("collatz", b), {kCollatz}, {kBlock}},
      {"saxpy", device.kernel("saxpy", b, a, factor, threads), {kThreads}, {kBlock}},
      {"reduce", reduce, {kThreads}, {kBlock}},
  };
  for (const auto &launch : launches) {
    device.launch(launch.kernel, launch.global, launch.local);
    double least = device.launch(launch.kernel, launch.global, launch.local);
    for (int i = 1; i < rounds; ++i)
      least = std::min(least, device.launch(launch.kernel, launch.global, launch.local));
    std::printf("%s %.4f\n", launch.name, least);
  }
}
