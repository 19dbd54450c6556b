// The closed library that keeps a block for itself, by the block's path.
#include "analysis/findings/keeper.h"
#include "analysis/places/driver_library.h"

#include <gtest/gtest.h>

namespace msleaks::analysis {
namespace {

std::shared_ptr<const SiteText> native(std::string library) {
  SiteText call;
  call.origin = SiteOrigin::Hook;
  call.library = std::move(library);
  return std::make_shared<const SiteText>(call);
}

std::shared_ptr<const SiteText> python(std::string file) {
  SiteText call;
  call.origin = SiteOrigin::Python;
  call.file = call.library = std::move(file);
  return std::make_shared<const SiteText>(call);
}

std::string keeperIn(std::vector<std::shared_ptr<const SiteText>> calls) {
  return std::string(closedLibraryOf(PathLine{1, 1, std::move(calls), true}));
}

constexpr const char *kDriver = "/usr/local/nvidia/lib64/libcuda.so.1";
constexpr const char *kTorch = "/venv/lib/python3.12/site-packages/torch/lib/libtorch_cpu.so";
constexpr const char *kTraining = "/home/me/train.py";

TEST(ClosedLibrary, APackageAllocatesForThePythonCodeThatCallsIt) {
  EXPECT_EQ(keeperIn({native(kTorch), python(kTraining)}), "");
}

TEST(ClosedLibrary, ADriverAllocatesForItselfWhateverPythonCodeRuns) {
  EXPECT_EQ(keeperIn({native(kDriver), native(kTorch), python(kTraining)}), kDriver);
  EXPECT_EQ(keeperIn({native("/lib/libc.so.6"), native(kDriver), native(kTorch), python(kTraining)}), kDriver);
}

// The package asks the driver for memory, which the package then hands to the program.
TEST(ClosedLibrary, ADriverThatAPackageCallsAfterwardsDoesNotKeepThePackagesBlock) {
  EXPECT_EQ(keeperIn({native(kTorch), native(kDriver), python(kTraining)}), "");
}

TEST(ClosedLibrary, AnyFolderMayContainADriver) {
  EXPECT_EQ(keeperIn({native("/opt/rocm/lib/libamdhip64.so.6"), native("/home/me/program")}),
            "/opt/rocm/lib/libamdhip64.so.6");
  EXPECT_EQ(keeperIn({native("/opt/rocm/lib/libmine.so"), native("/home/me/program")}), "");
}

TEST(DriverLibrary, TheNameOfTheFileDecides) {
  for (const char *name :
       {"libcuda.so.1", "/x/libcuda.so.580.159.04", "libcudart.so.13", "libcudart-d0da41ae.so.11.0",
        "libcublasLt.so.13", "libcudnn_engines_precompiled.so.9", "libnvidia-ptxjitcompiler.so.1", "libnccl.so.2",
        "libamdhip64.so.6", "libascend_hal.so", "libpocl.so.2.10.0", "libOpenCL.so.1"})
    EXPECT_TRUE(isDriverLibrary(name)) << name;
  for (const char *name : {"", "/", "libcudasolver.so", "libcuda_app.so", "libcuda_app.so.1/program", "cuda.so",
                           "libc10_cuda.so", "libtorch_cuda.so", "libmsleaks_hooks.so", "/usr/local/cuda/bin/nvcc"})
    EXPECT_FALSE(isDriverLibrary(name)) << name;
}

} // namespace
} // namespace msleaks::analysis
