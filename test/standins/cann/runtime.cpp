// Imitates libruntime.so: it launches kernels on the streams that ACL created. A kernel is a function of the program.
// The content of a registered binary is not read.
#include "../common/asked.h"
#include "../common/machine.h"
#include "../common/refusal.h"

#include "acl.h"
#include "functions.h"

#include <map>
#include <mutex>

namespace {

constexpr int kInvalid = ACL_ERROR_INVALID_PARAM;
using Kernel = void (*)(const void *, size_t);

// Waits for the kernel, since its arguments may become invalid when the call returns.
int launch(const void *kernel, const void *arguments, size_t size, aclrtStream stream) {
  if (kernel == nullptr || stream == nullptr)
    return kInvalid;
  const auto function = reinterpret_cast<Kernel>(reinterpret_cast<uintptr_t>(kernel));
  auto &of = *static_cast<standin::Stream *>(stream);
  of.run([=] { function(arguments, size); });
  of.wait();
  return 0;
}
int launch(const void *kernel, const rtArgsEx_t *arguments, aclrtStream stream) {
  return arguments != nullptr ? launch(kernel, arguments->args, arguments->size, stream) : kInvalid;
}

std::mutex mutex;
auto &binaries = *new std::map<void *, Kernel>;

const void *kernelOf(void *binary) {
  const std::lock_guard lock(mutex);
  const auto found = binaries.find(binary);
  return found != binaries.end() ? reinterpret_cast<const void *>(found->second) : nullptr;
}

} // namespace

int rtKernelLaunch(const void *stub, uint32_t, void *arguments, uint32_t size, void *, aclrtStream stream) {
  STANDIN_MAY_REFUSE();
  return launch(stub, arguments, size, stream);
}
int rtKernelLaunchWithFlag(const void *stub, uint32_t, rtArgsEx_t *arguments, void *, aclrtStream stream, uint32_t) {
  STANDIN_MAY_REFUSE();
  return launch(stub, arguments, stream);
}
int rtKernelLaunchWithFlagV2(const void *stub, uint32_t, rtArgsEx_t *arguments, void *, aclrtStream stream, uint32_t,
                             const void *) {
  STANDIN_MAY_REFUSE();
  return launch(stub, arguments, stream);
}
int rtVectorCoreKernelLaunch(const void *stub, uint32_t, rtArgsEx_t *arguments, void *, aclrtStream stream, uint32_t,
                             const void *) {
  STANDIN_MAY_REFUSE();
  return launch(stub, arguments, stream);
}
// In the stand-in, the handle of the arguments is the pointer to the arguments.
int rtLaunchKernelByFuncHandle(void *function, uint32_t, void *arguments, aclrtStream stream) {
  STANDIN_MAY_REFUSE();
  return launch(function, static_cast<rtArgsEx_t *>(arguments), stream);
}
int rtLaunchKernelByFuncHandleV2(void *function, uint32_t, void *arguments, aclrtStream stream, const void *) {
  STANDIN_MAY_REFUSE();
  return launch(function, static_cast<rtArgsEx_t *>(arguments), stream);
}
int rtLaunchKernelByFuncHandleV3(void *function, uint32_t, const rtArgsEx_t *arguments, aclrtStream stream,
                                 const void *) {
  STANDIN_MAY_REFUSE();
  return launch(function, arguments, stream);
}
int rtsLaunchKernelWithConfig(void *function, uint32_t, aclrtStream stream, void *, void *arguments, void *) {
  STANDIN_MAY_REFUSE();
  return launch(function, static_cast<rtArgsEx_t *>(arguments), stream);
}
int rtsLaunchKernelWithDevArgs(void *function, uint32_t, aclrtStream stream, void *, const void *arguments,
                               uint32_t size, void *) {
  STANDIN_MAY_REFUSE();
  return launch(function, arguments, size, stream);
}
int rtsLaunchKernelWithHostArgs(void *function, uint32_t, aclrtStream stream, void *, void *arguments, uint32_t size,
                                void *, uint32_t) {
  STANDIN_MAY_REFUSE();
  return launch(function, arguments, size, stream);
}
int rtKernelLaunchWithHandle(void *binary, uint64_t, uint32_t, rtArgsEx_t *arguments, void *, aclrtStream stream,
                             const void *) {
  STANDIN_MAY_REFUSE();
  return launch(kernelOf(binary), arguments, stream);
}
int rtKernelLaunchWithHandleV2(void *binary, uint64_t, uint32_t, rtArgsEx_t *arguments, void *, aclrtStream stream,
                               const void *) {
  STANDIN_MAY_REFUSE();
  return launch(kernelOf(binary), arguments, stream);
}
int rtVectorCoreKernelLaunchWithHandle(void *binary, uint64_t, uint32_t, rtArgsEx_t *arguments, void *,
                                       aclrtStream stream, const void *) {
  STANDIN_MAY_REFUSE();
  return launch(kernelOf(binary), arguments, stream);
}
int rtAicpuKernelLaunchExWithArgs(uint32_t, const char *, uint32_t, const rtArgsEx_t *arguments, void *,
                                  aclrtStream stream, uint32_t) {
  STANDIN_MAY_REFUSE();
  return launch(kernelOf(nullptr), arguments, stream);
}

int rtsFuncGetByName(void *, const char *name, void **function) {
  STANDIN_MAY_REFUSE();
  return standin::functionOf(name, function) ? 0 : kInvalid;
}
int rtsFuncGetByEntry(void *, uint64_t entry, void **function) {
  STANDIN_MAY_REFUSE();
  return standin::functionOf(entry, function) ? 0 : kInvalid;
}
int rtBinaryGetFunctionByName(void *, const char *name, void **function) {
  STANDIN_MAY_REFUSE();
  return standin::functionOf(name, function) ? 0 : kInvalid;
}
int rtBinaryGetFunction(void *, uint64_t key, void **function) {
  STANDIN_MAY_REFUSE();
  return standin::functionOf(key, function) ? 0 : kInvalid;
}
int rtsFuncGetName(void *function, uint32_t bytes, char *name) {
  return standin::asked(standin::nameOf(function, bytes, name) ? 0 : kInvalid);
}

int rtFunctionRegister(void *binary, const void *stub, const char *name, const void *, uint32_t) {
  STANDIN_MAY_REFUSE();
  return binary != nullptr && stub != nullptr && name != nullptr ? 0 : kInvalid;
}
int rtDevBinaryRegister(const rtDevBinary_t *binary, void **handle) {
  STANDIN_MAY_REFUSE();
  if (binary == nullptr || binary->data == nullptr || handle == nullptr)
    return kInvalid;
  const std::lock_guard lock(mutex);
  *handle = new char[64];
  binaries[*handle] = nullptr;
  return 0;
}
int rtRegisterAllKernel(const rtDevBinary_t *binary, void **handle) {
  STANDIN_MAY_REFUSE();
  return rtDevBinaryRegister(binary, handle);
}
void standinRuns(void *binary, Kernel kernel) {
  const std::lock_guard lock(mutex);
  binaries[binary] = kernel;
}
