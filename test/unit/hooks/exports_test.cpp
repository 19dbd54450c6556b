// Tests which symbols the libraries of hooks and runtime export, and which they need.
#include "shell.h"

#include "msleaks/abi/functions.h"
#include "msleaks/abi/host_copies.h"

#include <gtest/gtest.h>

#include <iterator>
#include <set>
#include <sstream>

namespace msleaks::test {
namespace {

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

std::set<std::string> functionsOfLibc() {
  std::set<std::string> names;
#define MSL_HOOKED(symbol) names.insert(#symbol);
#include "host/hooked.def"
  for (const abi::Symbol &copy : abi::kHostCopies)
    names.emplace(copy.name);
  return names;
}

// Hooks that are no rows of the table of functions.
std::set<std::string> writtenByHand() {
  std::set<std::string> names = {
      "dlsym", "dlclose",
      "InitializeInjectionNvtx2", // the headers of NVTX and MSTX call these two
      "InitInjectionMstx", "roctxMarkA", "roctxRangePushA", "roctxRangePop", "roctxRangeStartA", "roctxRangeStop",
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
      // these functions of ATB run operators and save their tensors
      "_ZN3atb6Runner7ExecuteERNS_17RunnerVariantPackE",
      "_ZN3atb9StoreUtil15SaveLaunchParamEPvRKN3Mki11LaunchParamERKSs",
      ("_ZN3atb9StoreUtil15SaveLaunchParamEPvRKN3Mki11LaunchParamERKNSt7__cxx1112"
       "basic_stringIcSt11char_traitsIcESaIcEEE"),
      "__msl_direct_ready", "__msl_hook_find", "__msl_hook_real", "__msl_hook_register", "execve", "execv", "execvp",
      "execvpe", "fexecve", "execl", "execlp", "execle", "posix_spawn", "posix_spawnp",
      "prctl", // the hooks inform the runtime before these calls
      "syscall", "setuid", "seteuid", "setreuid", "setresuid", "_Fork"};
#define MSL_DIRECT(symbol, ...) names.insert({"__msl_hook_" #symbol, "__msl_direct_" #symbol});
#include "msleaks/abi/direct_calls.def"
  return names;
}

// Without the hook, only instrumented programs would record the calls.
TEST(Hooks, EachDescribedFunctionAndItsFormIsExported) {
  const std::set<std::string> exported = exportsOf(kHooks);
  for (const abi::Function &function : abi::kFunctions) {
    EXPECT_TRUE(function.name == "cfree" || exported.contains(std::string(function.name))) << function.name;
    EXPECT_TRUE(function.form.empty() || exported.contains(std::string(function.form))) << function.form;
  }
  EXPECT_GT(std::size(abi::kFunctions), 300u);
}

TEST(Hooks, EachExportIsDescribedOrWrittenByHand) {
  const std::set<std::string> exported = exportsOf(kHooks);
  std::set<std::string> known = functionsOfLibc();
  for (const std::string &name : writtenByHand())
    known.insert(name);
  for (const std::string &name : known)
    EXPECT_TRUE(exported.contains(name)) << name << " is not exported";
  for (const abi::Function &function : abi::kFunctions)
    known.insert({std::string(function.name), std::string(function.form)});
  for (const std::string &name : exported)
    EXPECT_TRUE(known.contains(name) || name.starts_with("ze")) << name << " is hooked and not described"; // Level Zero
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
