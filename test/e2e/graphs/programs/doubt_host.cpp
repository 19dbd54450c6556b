// Launches `collatz` of kernels.cl in the way HOW, and prints the results.
// In some of these ways msleaks cannot count all launches (doubt_test.py).
//
//   doubt_host PROGRAM BUILD_OPTIONS HOW
//
//   plain        five launches
//   exec_info    two launches, a call of clSetKernelExecInfo, three more launches
//   unordered    two launches, then three in an out-of-order queue
//   task         two launches, then three by clEnqueueTask
//   fork         five launches that wait for an event, while a child begins and exits
//   queues       one launch in each of ten queues, which all wait for one event, and then one more in each
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "opencl_host.h"

#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr size_t kThreads = 256, kGroup = 64, kQueues = 10;
constexpr int kFirst = 2, kOthers = 3;

void launch(cl_command_queue queue, cl_kernel kernel, const cl_event *waits_for = nullptr) {
  check(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &kThreads, &kGroup, waits_for != nullptr, waits_for, nullptr),
        "clEnqueueNDRangeKernel");
}

void finish(cl_command_queue queue) { check(clFinish(queue), "clFinish"); }

cl_command_queue queueOf(const Host &host, cl_command_queue_properties properties) {
  cl_int status;
  const cl_command_queue made = clCreateCommandQueue(host.context, host.device, properties, &status);
  check(status, "clCreateCommandQueue");
  return made;
}

void sayWhatItUses(const Host &host, cl_kernel kernel) {
  void *const memory = clSVMAlloc(host.context, CL_MEM_READ_WRITE, kThreads, 0);
  check(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof memory, &memory), "clSetKernelExecInfo");
  clSVMFree(host.context, memory);
}

void launchInAnyOrder(const Host &host, cl_kernel kernel) {
  const cl_command_queue queue = queueOf(host, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  for (int i = 0; i < kOthers; ++i) {
    launch(queue, kernel);
    finish(queue);
  }
  clReleaseCommandQueue(queue);
}

void launchAroundFork(const Host &host, cl_kernel kernel) {
  cl_int status;
  const cl_event gate = clCreateUserEvent(host.context, &status);
  check(status, "clCreateUserEvent");
  for (int i = 0; i < kFirst + kOthers; ++i)
    launch(host.queue, kernel, i == 0 ? &gate : nullptr);
  const pid_t child = fork();
  if (child == 0)
    std::exit(0);
  int ended = 0;
  waitpid(child, &ended, 0);
  std::printf("child %d\n", ended);
  check(clSetUserEventStatus(gate, CL_COMPLETE), "clSetUserEventStatus");
  finish(host.queue);
  clReleaseEvent(gate);
}

void launchInManyQueues(const Host &host, cl_kernel kernel) {
  cl_int status;
  const cl_event gate = clCreateUserEvent(host.context, &status);
  check(status, "clCreateUserEvent");
  std::vector<cl_command_queue> queues;
  for (size_t i = 0; i < kQueues; ++i)
    launch(queues.emplace_back(queueOf(host, 0)), kernel, &gate);
  check(clSetUserEventStatus(gate, CL_COMPLETE), "clSetUserEventStatus");
  for (const cl_command_queue queue : queues)
    finish(queue);
  for (const cl_command_queue queue : queues) {
    launch(queue, kernel);
    finish(queue);
    clReleaseCommandQueue(queue);
  }
  clReleaseEvent(gate);
}

} // namespace

int main(int, char **arguments) {
  const Host host = make(arguments[1], arguments[2]);
  const auto is = [&](const char *how) { return std::strcmp(arguments[3], how) == 0; };
  const cl_kernel kernel = host.kernel("collatz");
  const cl_mem out = host.buffer(std::vector<int>(kThreads));
  Host::set(kernel, 0, out), Host::set(kernel, 1, 0);
  for (int i = 0; i < (is("queues") || is("fork") ? 0 : is("plain") ? kFirst + kOthers : kFirst); ++i)
    launch(host.queue, kernel);
  if (is("exec_info")) {
    sayWhatItUses(host, kernel);
    for (int i = 0; i < kOthers; ++i)
      launch(host.queue, kernel);
  }
  if (is("task"))
    for (int i = 0; i < kOthers; ++i)
      check(clEnqueueTask(host.queue, kernel, 0, nullptr, nullptr), "clEnqueueTask");
  if (is("fork"))
    launchAroundFork(host, kernel);
  finish(host.queue);
  if (is("unordered"))
    launchInAnyOrder(host, kernel);
  if (is("queues"))
    launchInManyQueues(host, kernel);
  host.print("collatz", out, kThreads);
  clReleaseKernel(kernel);
  clReleaseProgram(host.program);
}
