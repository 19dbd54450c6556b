// Tests that the callbacks record one event for one call, with and without a hook inside the call.
#include "callbacks_fixture.h"

#include "msleaks/abi/graph_table.h"

namespace msleaks::test {
namespace {

TEST(Callbacks, AloneTheyRecord) {
  EXPECT_EQ(eventsOf([] {
              __msl_before(7, kMalloc);
              __msl_on_alloc(7, kMalloc, at(100), 16);
              __msl_on_free(8, kFree, at(100), 0);
            }),
            "Alloc#7 100+16 | Free#8 100");
}

TEST(Callbacks, AHookTakesTheSite) {
  EXPECT_EQ(eventsOf([] {
              __msl_before(7, kMalloc);
              hookAlloc(100, 16);
              __msl_on_alloc(7, kMalloc, at(100), 16);
              __msl_on_free(8, kFree, at(100), 0);
              hookFree(100);
              hookAlloc(100, 5);
              hookFree(100);
            }),
            "Alloc#7 100+16 hook | Free#8 100 | Alloc#999 100+5 hook | Free#999 100 hook");
}

TEST(Callbacks, FreeOfNullIsNothing) {
  EXPECT_EQ(eventsOf([] {
              __msl_on_free(8, kFree, nullptr, 0);
              __msl_before(7, kMalloc);
              __msl_on_alloc(7, kMalloc, at(100), 0);
            }),
            "Alloc#7 100");
}

TEST(Callbacks, AFreeThatNoHookSawIsNotTakenByALaterOne) {
  EXPECT_EQ(eventsOf([] {
              __msl_on_free(8, kFree, at(100), 0); // the program's operator delete puts the block into a pool
              hookAlloc(100, 3);
              hookFree(100);
            }),
            "Free#8 100 | Alloc#999 100+3 hook | Free#999 100 hook");
}

TEST(Callbacks, AHookOfAnotherFamilyDoesNotTakeIt) {
  EXPECT_EQ(eventsOf([] {
              __msl_before(7, kDevice);
              hookAlloc(50, 8); // a block that the driver allocates for itself
              const void *block = at(100);
              __msl_on_alloc_out(7, kDevice, &block, 16, 0);
            }),
            "Alloc#999 50+8 hook | Alloc#7 100+16 async");
}

TEST(Callbacks, AHandleThatIsAHostBlockIsADevicesBlockToo) {
  EXPECT_EQ(eventsOf([] {
              __msl_before(7, kDevice);
              hookAlloc(100, 416); // the driver's data about the block; the address of this data is the handle
              const void *block = at(100);
              __msl_on_alloc_out(7, kDevice, &block, 16, 0);
            }),
            "Alloc#999 100+416 hook | Alloc#7 100+16 async");
}

TEST(Callbacks, AnOperatorNewOfTheProgramsOwnIsRetargeted) {
  EXPECT_EQ(eventsOf([] {
              __msl_before(7, kMalloc); // operator new
              inside([] {
                __msl_before(9, kMalloc); // malloc inside operator new
                hookAlloc(100, 16);
                __msl_on_alloc(9, kMalloc, at(100), 16);
              });
              __msl_on_alloc(7, kMalloc, at(100), 12);
            }),
            "Alloc#9 100+16 hook | Retarget#7 100+12");
}

// The program's own operator delete calls free(). If the free was recorded for the call of operator delete, the inner
// call of free() must not be recorded.
TEST(Callbacks, AnInnerFreeIsItsCallersFree) {
  EXPECT_EQ(eventsOf([] {
              __msl_on_free(7, kFree, at(100), 0); // instrumented code called operator delete
              __msl_on_inner_free(8, kFree, at(100), 0);
              hookFree(100);
              __msl_on_inner_free(8, kFree, at(100), 0); // code without instrumentation called operator delete
              hookFree(100);
              __msl_on_free(7, kFree, at(100), 0);
              __msl_on_inner_free(8, kFree, at(200), 0); // frees another block, which the freed block referred to
            }),
            "Free#7 100 | Free#8 100 | Free#7 100 | Free#8 200");
}

// An allocator's own mappings are not recorded. Mappings by a signal handler that interrupts the allocator are not
// recorded either, since the runtime cannot tell them apart.
TEST(Callbacks, WhatIsMappedAndUnmappedInsideAnAllocatorIsItsSupply) {
  EXPECT_EQ(eventsOf([] {
              __msl_before(7, kMalloc);
              inside([] {
                __msl_before(8, kMap);
                __msl_on_map(8, kMap, at(0x10000), 0x10000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
                __msl_on_free(9, kUnmap, at(0x10000), 0x10000);
                __msl_on_freed(9, kUnmap, at(0x10000), 0x10000, -1);
              });
              __msl_on_alloc(7, kMalloc, at(100), 16);
              mustBePlain();
            }),
            "Alloc#7 100+16");
}

TEST(Callbacks, AMappingIsNotTheBlockThatWasCutFromIt) {
  const auto anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
  EXPECT_EQ(eventsOf([] {
              __msl_before(7, kUser);
              recordMapping(4096, 8192);
              __msl_on_alloc(7, kUser, at(4096), 12);
            }),
            "Alloc#999 4096+8192 hook | Alloc#7 4096+12");
  EXPECT_EQ(eventsOf([=] {
              __msl_before(7, kMalloc);
              inside([=] {
                __msl_before(9, kMap);
                __msl_on_map(9, kMap, at(4096), 8192, PROT_READ, anonymous);
                noTailCall();
              });
              __msl_on_alloc(7, kMalloc, at(4096), 12);
              __msl_before(9, kMap);
              __msl_on_map(9, kMap, at(4096), 8192, PROT_READ, anonymous);
              mustBePlain();
            }),
            "Alloc#7 4096+12 | Alloc#9 4096+8192");
}

TEST(Callbacks, AWrapperThatReturnsTheFirstOfItsBlocksIsRetargeted) {
  EXPECT_EQ(eventsOf([] {
              __msl_before(7, kUser);
              inside([] {
                __msl_before(9, kMalloc);
                __msl_on_alloc(9, kMalloc, at(100), 16);
                __msl_before(10, kMalloc);
                __msl_on_alloc(10, kMalloc, at(200), 4);
              });
              __msl_on_alloc(7, kUser, at(100), 12);
            }),
            "Alloc#9 100+16 | Alloc#10 200+4 | Retarget#7 100+12");
}

TEST(Callbacks, AWrapperWithoutAFreeOnlyNamesWhatIsRecorded) {
  EXPECT_EQ(eventsOf([] {
              __msl_before(7, kWrap);
              inside([] {
                __msl_before(9, kMalloc);
                __msl_on_alloc(9, kMalloc, at(100), 16);
              });
              __msl_on_alloc(7, kWrap, at(100), 12);
              __msl_before(7, kWrap);
              __msl_on_alloc(7, kWrap, at(300), 12); // not recorded: no call frees this block of a pool
              __msl_before(7, kWrap);
              __msl_on_alloc(7, kWrap, nullptr, 12);
              mustBePlain();
            }),
            "Alloc#9 100+16 | Retarget#7 100+12");
}

TEST(Callbacks, APoolHandsOutItsOwnBlock) {
  EXPECT_EQ(eventsOf([] {
              __msl_before(7, kUser);
              hookAlloc(100, 4096);
              __msl_on_alloc(7, kUser, at(164), 12);
              __msl_before(7, kUser);
              __msl_on_alloc(7, kUser, at(100), 12); // recorded before this call, so it is a pool's memory
            }),
            "Alloc#999 100+4096 hook | Alloc#7 164+12 | Alloc#7 100+12");
}

TEST(Callbacks, AFailedCallIsRecordedOnce) {
  EXPECT_EQ(eventsOf([] {
              __msl_before(7, kMalloc);
              __msl_on_alloc(7, kMalloc, nullptr, 16);
              __msl_before(7, kMalloc);
              __msl_on_alloc(7, kMalloc, nullptr, 0);
              __msl_before(8, kDevice);
              const void *garbage = at(100);
              __msl_on_alloc_out(8, kDevice, &garbage, 16, 2);
            }),
            "AllocFailed#7 16+12 | AllocFailed#8 16+2 async");
}

TEST(Callbacks, AThrowingCallLeavesNothingBehind) {
  EXPECT_EQ(eventsOf([] {
              __msl_before(7, kMalloc);
              __msl_cancel(7);
              hookAlloc(100, 16);
            }),
            "Alloc#999 100+16 hook");
}

TEST(Callbacks, HandlesAndCounts) {
  EXPECT_EQ(eventsOf([] {
              const int32_t good = 0;
              __msl_before(7, kDevice);
              __msl_on_alloc_status(7, kDevice, at(100), 16, &good);
              __msl_before(7, kDevice);
              __msl_on_alloc_status(7, kDevice, nullptr, 16, nullptr);
              __msl_on_retain(8, Traits(Verb::Retain, Family::OpenCl, Heap::Device, 0).packed(), at(100));
            }),
            "Alloc#7 100+16 async | AllocFailed#7 16 async | Retain#8 100");
}

// The program has set arguments 1 and 3 of the kernel. The kernel reads memory through argument 0, which is not known.
// So the launch uses unknown memory. Argument 2 is no address.
TEST(Callbacks, AnArgumentThatWasNotSeenIsUnknownMemory) {
  EXPECT_EQ(eventsOf([] {
              constexpr uint32_t kEnqueue = Traits(Verb::Launch, Family::OpenCl, Heap::Device, 0).packed();
              static constexpr abi::GraphArgument kRows[] = {{0, 16, 0, abi::kIsAddress | abi::kReads, {}},
                                                             {0, 32, 8, abi::kIsAddress | abi::kWrites, {}},
                                                             {0, 0, 16, 0, {}}};
              const abi::ArgumentRows rows{kRows, sizeof *kRows, 3, false};
              const uint64_t words[] = {1000, 2000};
              __msl_on_argument(7, at(0x100), 1, sizeof *words, &words[0]);
              __msl_on_argument(7, at(0x100), 3, sizeof *words, &words[1]);
              __msl_kernel_arguments(at(0x100), &rows);
              __msl_on_launch(8, kEnqueue, at(0x100), nullptr, 1, 1, 1, 1, 0);
            }),
            "Launch#8 256 | Access#8 0 | Access#8 1000+32 | Access#8 2000");
}

TEST(Callbacks, ALaunchThroughAStubBelongsToItsCaller) {
  const SessionDirectory session;
  ASSERT_EQ(session.runChild([] {
    __msl_announce(7, kLaunch);
    __msl_on_launch(8, kLaunch, at(100), at(200), 3 | uint64_t{4} << 32, 5, 64 | uint64_t{2} << 32, 1, 1024);
    const uint64_t global[] = {1000, 7}, local[] = {100, 70000};
    __msl_on_launch_range(9, kLaunch, at(100), at(200), 2, global, local);
    __msl_on_launch_range(9, kLaunch, at(100), at(200), 1, global, nullptr);
  }),
            0);
  const auto events = session.drain();
  ASSERT_EQ(events.size(), 3u);
  const auto first = events[0].event.as<abi::LaunchEvent>();
  EXPECT_EQ(first.header.site, 7u);
  EXPECT_EQ(first.kernel, 100u);
  EXPECT_EQ(first.stream, 200u);
  EXPECT_EQ(first.continuation, abi::kContinuationTag);
  EXPECT_EQ(first.grid_x, 3u);
  EXPECT_EQ(first.grid_y, 4u);
  EXPECT_EQ(first.grid_z, 5u);
  EXPECT_EQ(first.block_x, 64);
  EXPECT_EQ(first.block_y, 2);
  EXPECT_EQ(first.block_z, 1);
  EXPECT_EQ(first.shared_bytes, 1024u);
  const auto second = events[1].event.as<abi::LaunchEvent>();
  EXPECT_EQ(second.header.site, 9u);
  EXPECT_EQ(second.grid_x, 1000u);
  EXPECT_EQ(second.grid_y, 7u);
  EXPECT_EQ(second.grid_z, 1u);
  EXPECT_EQ(second.block_x, 100);
  EXPECT_EQ(second.block_y, 65535) << "what does not fit is the largest that does";
  EXPECT_EQ(events[2].event.as<abi::LaunchEvent>().block_x, 0) << "left to the driver";
}

TEST(Callbacks, CopiesAndFills) {
  EXPECT_EQ(
      eventsOf([] {
        __msl_on_copy(7, Traits(Verb::Copy, Family::Cuda, Heap::Device, 0).packed(), at(100), at(200), 16, at(300), 1);
        __msl_on_set(8, Traits(Verb::Set, Family::Cuda, Heap::Device, abi::kAsync).packed(), at(100), 0, 16, at(300));
      }),
      "Copy#7 100+200 | Set#8 100+16 async");
}

// Calls inside the hook of an allocator come from the allocator itself, if their functions belong to the hook's family.
// They are not recorded.
TEST(Callbacks, InsideAHookNothingIsRecorded) {
  EXPECT_EQ(eventsOf([] {
              __msl_thread.call.inside = runtime::insideOf(Family::Heap);
              __msl_before(7, kMalloc);
              __msl_on_alloc(7, kMalloc, at(100), 16);
              __msl_on_free(8, kFree, at(100), 0);
              __msl_thread.call.inside = 0;
              __msl_before(7, kMalloc);
              __msl_on_alloc(7, kMalloc, at(100), 16);
            }),
            "Alloc#7 100+16");
}

// Inside the hook of a driver's function, the driver frees a host block of the program. This free is recorded, because
// it belongs to another family.
TEST(Callbacks, InsideAHookOnlyItsFamilyIsLeftOut) {
  EXPECT_EQ(eventsOf([] {
              hook::Call call{kDeviceFree, hook::kPass, 999, 500, 0, 0};
              __msl_hook_enter(&call);
              must(call.answer == hook::kRecord);
              __msl_on_free(42, kDeviceFree, at(500), 0);
              __msl_hook_begin(&call);
              __msl_on_free(8, kFree, at(100), 0);
              __msl_on_free(9, kDeviceFree, at(600), 0);
              hook::Call inner{kDeviceFree, hook::kRecord, 999, 600, 0, 0};
              __msl_hook_enter(&inner);
              must(inner.answer == hook::kPass);
              __msl_hook_end(&call);
            }),
            "Free#42 500 | Free#8 100");
}

TEST(Callbacks, AHookPassesOnWhatACallbackRecorded) {
  EXPECT_EQ(eventsOf([] {
              const auto answerOf = [](uint32_t traits, uint64_t address) {
                hook::Call call{traits, hook::kPass, 999, address, 0, 0};
                __msl_hook_enter(&call);
                return call.answer;
              };
              __msl_on_free(7, kDeviceFree, at(100), 0);
              must(answerOf(kDeviceFree, 100) == hook::kAnnounced);
              must(answerOf(kDeviceFree, 100) == hook::kRecord);
              __msl_on_launch(8, kLaunch, at(300), nullptr, 1, 1, 1, 1, 0);
              must(answerOf(kLaunch, 300) == hook::kAnnounced);
              __msl_before(9, kDevice);
              must(answerOf(kDevice, 0) == hook::kAnnounced);
              const void *block = at(100);
              __msl_on_alloc_out(9, kDevice, &block, 16, 0);
              mustBePlain();
            }),
            "Free#7 100 | Launch#8 300 | Alloc#9 100+16 async");
}

TEST(Callbacks, ARefusedFreeBringsTheBlockBack) {
  EXPECT_EQ(eventsOf([] {
              __msl_on_free(7, kDeviceFree, at(100), 0);
              __msl_on_freed(7, kDeviceFree, at(100), 0, 0);
              __msl_on_free(8, kDeviceFree, at(100), 0);
              __msl_on_freed(8, kDeviceFree, at(100), 0, 1);
              __msl_on_free(9, kUnmap, at(4097), 4096); // calls that the kernel always refuses are not recorded
              __msl_on_freed(9, kUnmap, at(4097), 4096, -1);
            }),
            "Free#7 100 | Free#8 100 | Alloc#8 100 restored");
}

// The hook inside the call and the callback after the call both see that the free was refused. The first of them
// records that the block is alive again.
TEST(Callbacks, ARefusedFreeComesBackOnce) {
  EXPECT_EQ(eventsOf([] {
              const auto refuse = [](uint32_t site, bool hooked, bool called_back) {
                __msl_on_free(site, kDeviceFree, at(100), 0);
                hook::Call call{kDeviceFree | abi::kFromHook << 16, hook::kPass, 999, 100, 0, 0};
                if (hooked) {
                  __msl_hook_enter(&call);
                  must(call.answer == hook::kAnnounced && call.site == site);
                  __msl_hook_begin(&call);
                  __msl_hook_end(&call);
                  __msl_on_freed(call.site, call.traits, at(100), 0, 1);
                }
                if (called_back)
                  __msl_on_freed(site, kDeviceFree, at(100), 0, 1);
              };
              refuse(7, true, true);
              refuse(8, true, true);
              refuse(9, false, true);
              refuse(10, true, false); // no callback follows a tail call, or a call in an object of the first version
              refuse(11, true, true);
              __msl_on_free(12, kDeviceFree, at(200), 0);
              __msl_on_freed(12, kDeviceFree, at(200), 0, 1);
            }),
            "Free#7 100 | Alloc#7 100 hook restored | Free#8 100 | Alloc#8 100 hook restored | "
            "Free#9 100 | Alloc#9 100 restored | Free#10 100 | Alloc#10 100 hook restored | "
            "Free#11 100 | Alloc#11 100 hook restored | Free#12 200 | Alloc#12 200 restored");
}

// A launch or copy is recorded before the call. If the call is refused, one Failed event follows.
TEST(Callbacks, WhatARefusedLaunchOrCopyWasIsSaidOnce) {
  constexpr uint32_t kCopy = Traits(Verb::Copy, Family::Cuda, Heap::Device, 0).packed();
  EXPECT_EQ(eventsOf([] {
              __msl_on_copy(7, kCopy, at(100), at(200), 16, nullptr, 1);
              __msl_on_failed(7, kCopy, at(100), 0);
              mustBePlain(); // the call is over, and no hook saw it
              __msl_on_copy(8, kCopy, at(100), at(200), 16, nullptr, 1);
              __msl_on_failed(8, kCopy, at(100), 77);
              __msl_announce(9, kLaunch); // a stub announces the launch
              __msl_on_launch(10, kLaunch, at(300), nullptr, 1, 1, 1, 1, 0);
              __msl_on_failed(10, kLaunch, at(300), -5);
              __msl_cancel(9);
              __msl_on_launch(11, kLaunch, at(300), nullptr, 1, 1, 1, 1, 0);
              hook::Call call{kLaunch | abi::kFromHook << 16, hook::kPass, 999, 300, 0, 0};
              __msl_hook_enter(&call);
              must(call.answer == hook::kAnnounced && call.site == 11);
              __msl_hook_begin(&call);
              __msl_on_failed(12, kLaunch, at(300), 3); // the real function makes another call, which is not recorded
              __msl_hook_end(&call);
              __msl_on_failed(call.site, call.traits, at(300), 3);
              __msl_on_failed(11, kLaunch, at(300), 3);
              mustBePlain();
            }),
            "Copy#7 100+200 | Copy#8 100+200 | Failed#8 100+77 | Launch#9 300 | Failed#9 300+18446744073709551611 | "
            "Launch#11 300 | Failed#11 300+3 hook");
}

} // namespace
} // namespace msleaks::test
