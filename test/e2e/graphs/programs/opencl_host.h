// Contains the common code of OpenCL host programs. It chooses a device, and creates a program, kernels and buffers.
#pragma once

#define CL_TARGET_OPENCL_VERSION 210
#include <CL/cl.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

constexpr int kSkipped = 77;

inline void check(cl_int status, const char *what) {
  if (status == CL_SUCCESS)
    return;
  std::fprintf(stderr, "%s: OpenCL error %d\n", what, status);
  std::exit(1);
}

struct Host {
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  cl_program program;

  cl_mem buffer(const std::vector<int> &content) const {
    cl_int status;
    cl_mem made = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, content.size() * sizeof(int),
                                 const_cast<int *>(content.data()), &status);
    check(status, "clCreateBuffer");
    return made;
  }

  cl_kernel kernel(const char *name) const {
    cl_int status;
    cl_kernel made = clCreateKernel(program, name, &status);
    check(status, name);
    return made;
  }

  template <class T> static void set(cl_kernel kernel, unsigned index, const T &value) {
    check(clSetKernelArg(kernel, index, sizeof value, &value), "clSetKernelArg");
  }

  void launch(cl_kernel kernel, std::vector<size_t> global, std::vector<size_t> local) const {
    check(clEnqueueNDRangeKernel(queue, kernel, static_cast<cl_uint>(global.size()), nullptr, global.data(),
                                 local.empty() ? nullptr : local.data(), 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
  }

  void print(const char *name, cl_mem buffer, size_t count) const {
    std::vector<unsigned> content(count);
    check(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, count * sizeof(int), content.data(), 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
    unsigned long hash = 0xcbf29ce484222325;
    for (const unsigned value : content)
      hash = (hash ^ value) * 0x100000001b3;
    std::printf("%s %016lx\n", name, hash);
  }
};

inline Host make(const char *path, const char *options) {
  Host host{};
  cl_platform_id platform;
  if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &host.device, nullptr) != CL_SUCCESS) {
    std::fprintf(stderr, "no OpenCL device\n");
    std::exit(kSkipped);
  }
  cl_int status;
  host.context = clCreateContext(nullptr, 1, &host.device, nullptr, nullptr, &status);
  check(status, "clCreateContext");
  host.queue = clCreateCommandQueueWithProperties(host.context, host.device, nullptr, &status);
  check(status, "clCreateCommandQueue");
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const auto *begin = reinterpret_cast<const unsigned char *>(bytes.data());
  const size_t size = bytes.size();
  const char *text = bytes.c_str();
  if (bytes.starts_with("\x03\x02\x23\x07"))
    host.program = clCreateProgramWithIL(host.context, begin, size, &status);
  else if (std::string(path).ends_with(".cl"))
    host.program = clCreateProgramWithSource(host.context, 1, &text, nullptr, &status);
  else
    host.program = clCreateProgramWithBinary(host.context, 1, &host.device, &size, &begin, nullptr, &status);
  check(status, "clCreateProgram");
  check(clBuildProgram(host.program, 1, &host.device, options, nullptr, nullptr), "clBuildProgram");
  return host;
}
