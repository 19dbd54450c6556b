// Tests which symbols the libraries of hooks and runtime export, and which they need.
#include "shell.h"

#include "msleaks/abi/handle_calls.h"
#include "msleaks/abi/host_copies.h"
#include "msleaks/abi/symbols.h"
#include "msleaks/runtime/thread.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

namespace msleaks::test {
namespace {

// Removes the suffixes of a function's variants: cuMemcpy2DAsync_v2_ptsz becomes cuMemcpy2D.
std::string withoutForm(std::string name) {
  for (const std::string_view form : {"_ptds", "_ptsz", "_spt", "_v2", "Async"})
    if (name.ends_with(form))
      name.resize(name.size() - form.size());
  return name;
}

std::set<std::string> exportsOf(const std::string &library) {
  const Ran nm = runShell("nm -D --defined-only " + library);
  EXPECT_EQ(nm.status, 0);
  std::set<std::string> exported;
  std::istringstream lines(nm.output);
  for (std::string address, type, name; lines >> address >> type >> name;)
    if (type != "d") // nm also lists the bounds of a section, although they are hidden
      exported.insert(name);
  return exported;
}

// Each row of a driver's function must have a hook. Without the hook, only instrumented programs would record the
// calls.
TEST(Hooks, EveryRowOfADriverIsExported) {
  const std::set<std::string> exported = exportsOf(kHooks);
  unsigned rows = 0;
  for (const abi::Symbol &row : abi::kSymbols)
    if (runtime::hasDevices(row.family)) {
      EXPECT_TRUE(exported.contains(std::string(row.name))) << row.name << " has a row and no hook";
      ++rows;
    }
  EXPECT_GT(rows, 100u);
}

TEST(Hooks, EveryExportIsARowOfTheTable) {
  const std::set<std::string> exported = exportsOf(kHooks);
  std::set<std::string> hooked, direct;
#define MSL_HOOKED(symbol) hooked.insert(#symbol);
#include "host/hooked.def"
#define MSL_DIRECT(symbol, ...) direct.insert({"__msl_hook_" #symbol, "__msl_direct_" #symbol});
#include "msleaks/abi/direct_calls.def"
  for (const std::string &name : hooked)
    EXPECT_TRUE(exported.contains(name)) << name << " is not exported";
  std::set<std::string> ways_in = {
      "dlsym", "dlclose", "cuGetProcAddress", "clBuildProgram", "clFinish", "clGetProgramInfo", "clSetKernelExecInfo",
      "hipMemCreate", // from here on, hooks define their own rows, or need none (device_memory.h)
      "hipMemRelease", "hipMemRetainAllocationHandle", "hipMalloc3D", "hipMallocArray", "hipMalloc3DArray",
      "hipMallocMipmappedArray", "hipFreeArray", "hipFreeMipmappedArray", "hipArrayCreate", "hipArray3DCreate",
      "hipMipmappedArrayCreate", "hipArrayDestroy", "hipMipmappedArrayDestroy", "aclrtMemcpy2d", "aclrtMemcpy2dImpl",
      "aclrtMemcpy2dAsyncImpl", "aclrtMemcpyBatch", "aclrtMemcpyBatchImpl", "aclrtMemcpyBatchAsyncImpl",
      "cudaMemcpy2DArrayToArray", "cudaMemcpy2DFromArray", "cudaMemcpy2DToArray", "hipMemcpy2DArrayToArray",
      "hipMemcpy2DFromArray", "hipMemcpy2DToArray", "hipDrvMemcpy2DUnaligned", "hipDrvMemcpy3D", "hipMemcpyParam2D",
      "hipMemcpy2D", "hipMemcpy3D", "hipMemset2D", "hipMemset3D", "hipMemsetD16", "hipMemsetD32", "hipGraphLaunch",
      "cuMemCreate", "cuMemRelease", "cuMemRetainAllocationHandle", "cuMemImportFromShareableHandle",
      "cudaGraphAddMemAllocNode", "cudaGraphAddMemFreeNode", "cudaGraphAddNode", "cuGraphAddMemAllocNode",
      "cuGraphAddMemFreeNode", "cuGraphAddNode", "cuGraphAddNode_v3", "hipGraphAddMemAllocNode",
      "hipGraphAddMemFreeNode", "hipDrvGraphAddMemFreeNode", "hipGraphAddNode",
      "cudaLaunchCooperativeKernelMultiDevice", "cuLaunchCooperativeKernelMultiDevice",
      "hipLaunchCooperativeKernelMultiDevice", "hipExtLaunchMultiKernelMultiDevice",
      "hipModuleLaunchCooperativeKernelMultiDevice", "hipCtxSetCurrent", "hipCtxPushCurrent", "hipCtxPopCurrent",
      "hipMemsetD2D8", "hipMemsetD2D16", "hipMemsetD2D32", "cudaIpcOpenMemHandle", "cudaIpcCloseMemHandle",
      "cudaMemPoolImportPointer", "cudaExternalMemoryGetMappedBuffer", "cudaExternalMemoryGetMappedMipmappedArray",
      "cuIpcOpenMemHandle", "cuIpcCloseMemHandle", "cuMemPoolImportPointer", "cuExternalMemoryGetMappedBuffer",
      "cuExternalMemoryGetMappedMipmappedArray", "hipIpcOpenMemHandle", "hipIpcCloseMemHandle",
      "hipMemPoolImportPointer", "hipExternalMemoryGetMappedBuffer", "hipExternalMemoryGetMappedMipmappedArray",
      "cuMulticastCreate", "cuMulticastBindMem", "cuMulticastBindAddr", "cuMulticastUnbind",
      "hipMemImportFromShareableHandle", "cuArrayCreate", "cuArray3DCreate", "cuMipmappedArrayCreate", "cuArrayDestroy",
      "cuMipmappedArrayDestroy", "cuMemcpy2D", "cuMemcpy2DUnaligned", "cuMemcpy3D", "cuMemsetD16", "cuMemsetD32",
      "cuMemsetD2D8", "cuMemsetD2D16", "cuMemsetD2D32", "cuGraphLaunch", "cuCtxSetCurrent", "cuCtxPushCurrent",
      "cuCtxPopCurrent", "cudaMalloc3D", "cudaMallocArray", "cudaMalloc3DArray", "cudaMallocMipmappedArray",
      "cudaFreeArray", "cudaFreeMipmappedArray", "cuMemcpyBatch", "cuMemcpyWithAttributes", "cuMemcpy3DWithAttributes",
      "cudaMemcpyWithAttributes", "cudaMemcpy3DWithAttributes", "cuMemcpy3DBatch", "cuMemcpy3DPeer", "cudaMemcpyBatch",
      "cudaMemcpy3DBatch", "cudaMemcpy3DPeer", "hipMemcpyBatch", "hipMemcpy3DBatch", "hipMemcpy3DPeer", "cudaMemcpy2D",
      "cudaMemcpy3D", "cudaMemset2D", "cudaMemset3D", "cudaGraphLaunch",
      "halMemAlloc", // hooks of Ascend's driver define their own rows (ascend/hal.h)
      "halMemCreate", "halMemFree", "halMemRelease", "halMemMap", "halMemUnmap", "halMemRetainAllocationHandle",
      "halMemImportFromShareableHandle",
      "clCreateImage", // the hooks of these four ask the driver for the size
      "clCreateImageWithProperties", "clCreateImage2D", "clCreateImage3D",
      "clGetExtensionFunctionAddress", // by these two a program gets the next seven, which have no rows of their own
      "clGetExtensionFunctionAddressForPlatform", "clHostMemAllocINTEL", "clDeviceMemAllocINTEL",
      "clSharedMemAllocINTEL", "clMemFreeINTEL", "clMemBlockingFreeINTEL", "clEnqueueMemcpyINTEL",
      "clEnqueueMemFillINTEL", "clSetKernelArgMemPointerINTEL",
      "InitializeInjectionNvtx2", // the headers of NVTX and MSTX call these two
      "InitInjectionMstx",
      "_ZN3c1022memoryProfilingEnabledEv",                     // its hook finds the operators of PyTorch
      "_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE", // PyTorch reports parts of segments by one of these two
      "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE",
      // its hook finds the line of the forward pass for each node of the backward pass
      ("_ZN5torch8autograd6Engine17evaluate_functionERSt10shared_ptrINS0_9GraphTaskEEPNS0_4NodeERNS0_"
       "11InputBufferERKS2_"
       "INS0_10ReadyQueueEE"),
      // PyTorch makes tensors by these three, and passes their type
      ("_ZN2at6detail13empty_genericEN3c108ArrayRefIlEEPNS1_9AllocatorENS1_14DispatchKeySetENS1_10ScalarTypeENS1_"
       "8optionalINS1_12MemoryFormatEEE"),
      ("_ZN2at6detail13empty_genericEN3c108ArrayRefIlEEPNS1_9AllocatorENS1_14DispatchKeySetENS1_"
       "10ScalarTypeESt8optionalINS1_12MemoryFormatEE"),
      ("_ZN2at6detail21empty_strided_genericEN3c108ArrayRefIlEES3_PNS1_9AllocatorENS1_14DispatchKeySetENS1_"
       "10ScalarTypeE"),
      "aclInit", // the hooks of these two record a mark
      "aclFinalize",
      "aclrtBinaryGetFunction", // the hooks of these nine find the names of kernels
      "aclrtBinaryGetFunctionByEntry", "rtsFuncGetByName", "rtsFuncGetByEntry", "rtBinaryGetFunctionByName",
      "rtBinaryGetFunction", "rtFunctionRegister", "rtDevBinaryRegister", "rtRegisterAllKernel",
      "rtAicpuKernelLaunchExWithArgs", // an argument is the kernel's name
      // these functions of ATB run operators and save their tensors
      "_ZN3atb6Runner7ExecuteERNS_17RunnerVariantPackE",
      "_ZN3atb9StoreUtil15SaveLaunchParamEPvRKN3Mki11LaunchParamERKSs",
      ("_ZN3atb9StoreUtil15SaveLaunchParamEPvRKN3Mki11LaunchParamERKNSt7__cxx1112"
       "basic_stringIcSt11char_traitsIcESaIcEEE"),
      "roctxMarkA", "roctxRangePushA", "roctxRangePop", "roctxRangeStartA", "roctxRangeStop", "cuCtxSynchronize",
      "cudaDeviceReset", "cudaThreadExit", "cuDevicePrimaryCtxRelease", "cuDevicePrimaryCtxReset", "cuEventSynchronize",
      "cuFuncSetAttribute", "cuFuncSetCacheConfig", "cuFuncSetSharedMemConfig", "cuKernelGetFunction",
      "cuKernelSetAttribute", "cuKernelSetCacheConfig", "cuLibraryGetKernel", "cuModuleGetFunction",
      "cuStreamSynchronize", "__hipRegisterFatBinary", "__hipRegisterFunction", "__hipUnregisterFatBinary",
      "hipDeviceReset", "hipGetProcAddress", "hipDeviceSynchronize", "hipEventSynchronize", "hipFuncSetAttribute",
      "hipFuncSetCacheConfig", "hipFuncSetSharedMemConfig", "hipModuleGetFunction", "hipStreamSynchronize",
      "__msl_direct_ready", "__msl_hook_find", "__msl_hook_real", "__msl_hook_register", "execve", "execv", "execvp",
      "execvpe", "fexecve", "execl", "execlp", "execle", "posix_spawn", "posix_spawnp",
      "prctl", // the hooks inform the runtime before these calls
      "syscall", "setuid", "seteuid", "setreuid", "setresuid", "_Fork"};
  for (const abi::Symbol &copy : abi::kHostCopies)
    ways_in.emplace(copy.name);
  std::set<std::string> without_form;
  for (const std::string &name : exported)
    without_form.insert(withoutForm(name));
  for (const std::string &name : direct)
    EXPECT_TRUE(exported.contains(name)) << name << " is not exported";
  for (const std::string &name : ways_in)
    EXPECT_TRUE(without_form.contains(name)) << name << " is no longer hooked";
  // A function with the suffix Impl has no row. The function without the suffix has a row, and calls the Impl function.
  const auto above = [](const std::string &name) {
    return name.ends_with("Impl") ? name.substr(0, name.size() - 4) : name;
  };
  const auto hasOwnRow = [](const std::string &name) { return name.starts_with("ze"); }; // Level Zero
  for (const std::string &name : exported)
    EXPECT_TRUE(abi::findSymbol(above(name)) != nullptr || abi::handleCallsOf(name).count != 0 ||
                ways_in.contains(withoutForm(name)) || direct.contains(name) || hasOwnRow(name))
        << name << " is hooked and no row of symbols.def or handle_calls.def";
  for (const abi::HandleCall &call : abi::detail::Handles::kCalls)
    EXPECT_TRUE(exported.contains(std::string(call.name))) << call.name << " has a row and no hook";
}

TEST(Hooks, TheRuntimeExportsNothingElse) {
  const Ran nm = runShell("nm -D --defined-only " + kRuntime);
  ASSERT_EQ(nm.status, 0);
  std::istringstream lines(nm.output);
  unsigned exports = 0;
  for (std::string address, type, name; lines >> address >> type >> name; ++exports)
    EXPECT_EQ(name.rfind("__msl_", 0), 0u) << name;
  EXPECT_GT(exports, 10u);
}

TEST(Hooks, OnlyLibcIsNeeded) {
  const std::string needed = "readelf -d %s | sed -n 's/.*(NEEDED).*\\[\\(.*\\)\\]/\\1/p' | sort | tr '\\n' ' '";
  const auto of = [&](const std::string &library) {
    return runShell(std::string(needed).replace(needed.find("%s"), 2, library)).output;
  };
  EXPECT_EQ(of(kRuntime), "libc.so.6 ");
  EXPECT_EQ(of(kHooks), "libc.so.6 libmsleaks_rt.so ");
}

// The libraries must access a thread's state at a constant offset from the thread pointer. They must not call
// __tls_get_addr, which may allocate.
TEST(Hooks, ThreadStateNeedsNoCall) {
  for (const std::string &library : {kHooks, kRuntime}) {
    const Ran nm = runShell("nm -D -u " + library);
    ASSERT_EQ(nm.status, 0);
    EXPECT_NE(nm.output.find("dl"), std::string::npos) << "nm lists nothing";
    EXPECT_EQ(nm.output.find("__tls_get_addr"), std::string::npos) << library;
  }
}

} // namespace
} // namespace msleaks::test
