// Tests that a kernel's name is recorded before its first launch, and again if another kernel gets the handle.
#include "callbacks_fixture.h"
#include "kernel_names.h"

#include <gtest/gtest.h>
#include <memory>

namespace msleaks::runtime {
namespace {

using test::eventsOf;

constexpr abi::Traits kLaunch(abi::Verb::Launch, abi::Family::Acl, abi::Heap::Device, 0);
constexpr uint64_t kFirstKernel = 0x5555'0000'1000, kSecondKernel = 0x5555'0000'2000;

const void *at(uint64_t handle) { return reinterpret_cast<const void *>(handle); }

void launchKernel(uint64_t kernel, abi::Traits row = kLaunch) {
  __msl_on_launch(7, row.packed(), at(kernel), nullptr, 1, 1, 1, 1, 0);
}
void call(uint64_t kernel, const char *name) { __msl_hook_kernel(kLaunch.packed(), at(kernel), name); }

int asked = 0; // number of calls of nameOf()

// The test's driver returns the names of kernels by this function.
int32_t nameOf(const void *kernel, char *text, uint64_t) {
  ++asked;
  text[0] = kernel == at(kFirstKernel) ? 'f' : 's';
  text[1] = 0;
  return kernel == at(kSecondKernel) ? -1 : 0;
}
constexpr hook::Device kDriver = {
    sizeof(hook::Device), static_cast<uint32_t>(abi::Family::Hip), nullptr, nullptr, nameOf, nullptr, nullptr, nullptr};

// Returns the kinds of the events, such as "Kernel Launch …".
std::string kindsOf(const std::function<void()> &body) {
  const std::string text = eventsOf(body);
  std::string kinds;
  for (size_t begin = 0, end = 0; end != text.npos; begin = end + 3) {
    end = text.find(" | ", begin);
    kinds += (kinds.empty() ? "" : " ") + text.substr(begin, text.find('#', begin) - begin);
  }
  return kinds;
}

} // namespace

TEST(KernelNames, AreToldOnce) {
  EXPECT_EQ(kindsOf([] {
              call(kFirstKernel, "relu");
              launchKernel(kFirstKernel);
              launchKernel(kFirstKernel);
              launchKernel(kSecondKernel); // no driver returns a name for this kernel
              launchKernel(0);
            }),
            "Kernel Launch Launch Launch Launch");
}

TEST(KernelNames, OfAnotherKernelAtTheSameHandleAreToldAnew) {
  EXPECT_EQ(kindsOf([] {
              call(kFirstKernel, "relu");
              launchKernel(kFirstKernel);
              call(kFirstKernel, "relu");
              launchKernel(kFirstKernel);
              call(kFirstKernel, "gelu");
              launchKernel(kFirstKernel);
              __msl_on_kernel(kLaunch.packed(), at(kFirstKernel), 0);
              launchKernel(kFirstKernel);
            }),
            "Kernel Launch Launch Kernel Launch Launch");
}

TEST(KernelNames, ADriverIsAskedOnceForEach) {
  constexpr abi::Traits kRow(abi::Verb::Launch, abi::Family::Hip, abi::Heap::Device, 0);
  EXPECT_EQ(kindsOf([=] {
              __msl_hook_driver(&kDriver);
              for (int i = 0; i < 3; ++i) {
                launchKernel(kFirstKernel, kRow);
                launchKernel(kSecondKernel, kRow);
              }
              test::must(asked == 2);
            }),
            "Kernel Launch Launch Launch Launch Launch Launch");
}

TEST(KernelNames, ATableThatIsFullTellsNoMore) {
  const auto names = std::make_unique<KernelNames>();
  uint64_t placed = 0;
  while (names->slotFor(0x1000 + placed * 16) != nullptr)
    ASSERT_LE(++placed, KernelNames::kSlots);
  EXPECT_GT(placed, KernelNames::kSlots / 4);
  EXPECT_NE(names->find(0x1000), nullptr);
  EXPECT_EQ(names->find(0x1000 + placed * 16), nullptr);
}

} // namespace msleaks::runtime
