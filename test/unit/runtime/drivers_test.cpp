// Tests calls that only drivers of accelerators have. They lock host pages, map physical memory, and report versions
// and bytes in use.
#include "callbacks_fixture.h"

#include "msleaks/api.h"

#include <cstddef>
#include <sys/wait.h>
#include <tuple>

namespace msleaks::test {
namespace {

// Returns a driver whose only function reports its free bytes and its total bytes.
constexpr hook::Device cudaDriver(int32_t (*memory)(uint64_t *free, uint64_t *total)) {
  return {
      sizeof(hook::Device), static_cast<uint32_t>(Family::Cuda), nullptr, nullptr, nullptr, memory, nullptr, nullptr};
}

// A wrapper allocates a host block and registers its memory with a driver. The wrapper's Retarget event must refer to
// the host block, and not to the registered range.
TEST(Drivers, RegisteredMemoryIsNotTheBlockThatItLiesIn) {
  constexpr uint32_t kRegister = Traits(Verb::Alloc, Family::Cuda, Heap::Registered, 0).packed();
  EXPECT_EQ(eventsOf([] {
              __msl_before(7, kWrap);
              inside([] {
                hookAlloc(100, 16);
                __msl_before(8, kRegister);
                const void *const block = at(100);
                __msl_on_alloc_out(8, kRegister, &block, 16, 0);
                noTailCall();
              });
              __msl_on_alloc(7, kWrap, at(100), 16);
            }),
            "Alloc#999 100+16 hook | Alloc#8 100+16 | Retarget#7 100+16");
}

// A driver allocates a struct for a handle of the host's memory, and the struct's address is the handle. The memory is
// another block than the struct.
TEST(Drivers, AHandleIsNotTheBlockAtItsAddress) {
  constexpr uint32_t kCreate = Traits(Verb::Alloc, Family::Cuda, Heap::Pinned, abi::kDriver).packed();
  EXPECT_EQ(eventsOf([] {
              __msl_before(8, kCreate);
              hookAlloc(100, 16);
              const void *const block = at(100);
              __msl_on_alloc_out(8, kCreate, &block, 4096, 0);
              noTailCall();
            }),
            "Alloc#999 100+16 hook | Alloc#8 100+4096");
}

// When the first block of a driver is recorded, the driver's hooks check the driver's version. They check it only once.
TEST(Drivers, TheFirstBlockChecksTheVersion) {
  static int checks = 0;
  static constexpr hook::Device kDriver{sizeof(hook::Device),
                                        static_cast<uint32_t>(Family::Cuda),
                                        nullptr,
                                        nullptr,
                                        nullptr,
                                        nullptr,
                                        [] { ++checks; },
                                        nullptr};
  static constexpr hook::Device kEarlier{offsetof(hook::Device, checkVersions),
                                         static_cast<uint32_t>(Family::Hip),
                                         nullptr,
                                         nullptr,
                                         nullptr,
                                         nullptr,
                                         [] { checks = 100; },
                                         nullptr};
  EXPECT_EQ(eventsOf([] {
              __msl_hook_driver(&kDriver);
              __msl_hook_driver(&kEarlier);
              for (const uint64_t address : {100, 200}) {
                const void *const block = at(address);
                __msl_before(7, kDevice);
                __msl_on_alloc_out(7, kDevice, &block, 16, 0);
              }
              const uint32_t hip = Traits(Verb::Alloc, Family::Hip, Heap::Device, 0).packed();
              __msl_before(8, hip);
              __msl_on_alloc(8, hip, at(300), 16);
              must(checks == 1);
            }),
            "Alloc#7 100+16 async | Alloc#7 200+16 async | Alloc#8 300+16");
}

// A device's manager reports its bytes in use. The runtime records this number only if the driver also reports its own.
TEST(Drivers, WhatADeviceHasInUseIsSaidByTwo) {
  static constexpr auto kMemory = [](uint64_t *free, uint64_t *total) {
    *free = 30;
    *total = 100;
    return int32_t{0};
  };
  static constexpr auto kManaged = [](uint64_t *used) {
    *used = 75;
    return int32_t{0};
  };
  static constexpr hook::Device kDriver{
      sizeof(hook::Device), static_cast<uint32_t>(Family::Cuda), nullptr, nullptr, nullptr, kMemory, nullptr, kManaged};
  static constexpr hook::Device kEarlier{offsetof(hook::Device, managed),
                                         static_cast<uint32_t>(Family::Hip),
                                         nullptr,
                                         nullptr,
                                         nullptr,
                                         kMemory,
                                         nullptr,
                                         kManaged};
  const SessionDirectory session;
  ASSERT_EQ(session.runChild([] {
    __msl_hook_driver(&kDriver);
    __msl_hook_driver(&kEarlier);
    for (const Family family : {Family::Cuda, Family::Hip}) {
      const uint32_t traits = Traits(Verb::Alloc, family, Heap::Device, 0).packed();
      __msl_before(7, traits);
      __msl_on_alloc(7, traits, at(100), 16);
    }
  }),
            0);
  std::vector<uint64_t> numbers;
  for (const auto &event : session.drain())
    if (event.event.header().kind == abi::EventKind::Counter)
      numbers.push_back(event.event.as<abi::CounterEvent>().value);
  EXPECT_EQ(numbers, (std::vector<uint64_t>{70, 75, 70}));
}

// The runtime must not call the driver in a fork's child. A thread that exists only in the parent may hold the driver's
// lock.
TEST(Drivers, AChildDoesNotAskTheDriverOfItsParent) {
  static int asked = 0;
  static constexpr auto kMemory = [](uint64_t *free, uint64_t *total) {
    ++asked;
    *free = *total = 100;
    return int32_t{0};
  };
  static constexpr hook::Device kDriver = cudaDriver(kMemory);
  const SessionDirectory session;
  EXPECT_EQ(session.runChild([] {
    constexpr uint32_t kTake = Traits(Verb::Alloc, Family::Cuda, Heap::Device, 0).packed();
    __msl_hook_driver(&kDriver);
    __msl_before(7, kTake);
    __msl_on_alloc(7, kTake, at(100), 16);
    must(asked == 1);
    const pid_t child = ::fork();
    if (child == 0) {
      const void *none = nullptr;
      __msl_before(8, kTake);
      __msl_on_alloc_out(8, kTake, &none, 16, 2); // the parent's runtime would ask the driver here
      ::_exit(asked == 1 ? 0 : 1);
    }
    int status = -1;
    must(::waitpid(child, &status, 0) == child && status == 0);
  }),
            0);
}

// The runtime asks the driver for its bytes in use at each step, and at once after the driver has refused memory.
TEST(Drivers, AStepAndARefusalAskHowFullADeviceIs) {
  static uint64_t asked = 0;
  static constexpr auto kMemory = [](uint64_t *free, uint64_t *total) {
    *free = 100 - ++asked;
    *total = 100;
    return int32_t{0};
  };
  static constexpr hook::Device kDriver = cudaDriver(kMemory);
  const SessionDirectory session;
  ASSERT_EQ(session.runChild([] {
    constexpr uint32_t kTake = Traits(Verb::Alloc, Family::Cuda, Heap::Device, 0).packed();
    constexpr int64_t kOutOfMemory = 2;
    constexpr uint64_t kMostSteps = 300;
    __msl_hook_driver(&kDriver);
    __msl_before(7, kTake);
    __msl_on_alloc(7, kTake, at(100), 16); // the runtime asks the driver for its bytes in use, and then a pause begins
    for (uint64_t step = 1; asked == 1 && step < kMostSteps; ++step) {
      ::usleep(10'000);
      msl_step(step);
    }
    must(asked == 2);
    const void *none = nullptr;
    __msl_before(8, kTake);
    __msl_on_alloc_out(8, kTake, &none, 16, kOutOfMemory); // the runtime asks the driver even during a pause
    must(asked == 3);
  }),
            0);
  std::string text;
  for (const auto &event : session.drain()) {
    const abi::EventKind kind = event.event.header().kind;
    if (kind == abi::EventKind::Counter)
      text += " at " + std::to_string(event.event.as<abi::CounterEvent>().value);
    else if (kind == abi::EventKind::Alloc || kind == abi::EventKind::AllocFailed)
      text += " | " + std::string(abi::nameOf(kind));
    else if (!text.ends_with("Step"))
      text += " | " + std::string(abi::nameOf(kind));
  }
  EXPECT_EQ(text, " | Alloc at 1 | Step at 2 | AllocFailed at 3");
}

TEST(Drivers, SayWhatAddressesShow) {
  constexpr uint32_t kShow = Traits(Verb::Show, Family::Cuda, Heap::Device, abi::kFromHook).packed();
  constexpr uint32_t kRefused = Traits(Verb::Show, Family::Cuda, Heap::Device, abi::kRestored).packed();
  const SessionDirectory session;
  ASSERT_EQ(session.runChild([] {
    __msl_on_mapped(7, kShow, at(100), 16, at(5), 8);
    __msl_on_mapped(8, kRefused, at(100), 16, nullptr, 0);
    hook::Call call{kShow, hook::kPass, 1, 0, 0, 0};
    __msl_hook_enter(&call);
    __msl_hook_begin(&call);
    // Not recorded, because this call is inside another call of the same driver.
    __msl_on_mapped(9, kShow, at(100), 16, at(5), 8);
    __msl_hook_end(&call);
  }),
            0);
  const auto events = session.drain();
  ASSERT_EQ(events.size(), 2u);
  const auto shown = events[0].event.as<abi::MappedEvent>(), refused = events[1].event.as<abi::MappedEvent>();
  EXPECT_EQ(std::tuple(shown.address, shown.size, shown.block, shown.offset), std::tuple(100u, 16u, 5u, 8u));
  EXPECT_EQ(+shown.header.flags, abi::kFromHook);
  EXPECT_EQ(std::tuple(refused.address, refused.block), std::tuple(100u, 0u));
  EXPECT_EQ(+refused.header.flags, abi::kRestored);
}

} // namespace
} // namespace msleaks::test
