// Tests the callbacks of realloc and of mappings: blocks that move, partial frees, and calls that fail.
#include "callbacks_fixture.h"

namespace msleaks::test {
namespace {

TEST(Callbacks, ReallocMovesABlock) {
  EXPECT_EQ(eventsOf([] {
              __msl_on_free(7, kRealloc, at(100), 0);
              __msl_on_alloc(7, kRealloc, at(200), 32);
            }),
            "Free#7 100 realloc | Alloc#7 200+32 realloc");
}

TEST(Callbacks, ReallocOfNullIsAnAllocation) {
  EXPECT_EQ(eventsOf([] {
              __msl_on_free(7, kRealloc, nullptr, 0);
              __msl_on_alloc(7, kRealloc, at(200), 32);
            }),
            "Alloc#7 200+32");
}

TEST(Callbacks, AFailedReallocBringsTheBlockBack) {
  EXPECT_EQ(eventsOf([] {
              __msl_on_free(7, kRealloc, at(100), 0);
              __msl_on_alloc(7, kRealloc, nullptr, 32);
              __msl_on_free(8, kRealloc, at(100), 0); // realloc(p, 0)
              __msl_on_alloc(8, kRealloc, nullptr, 0);
            }),
            "Free#7 100 realloc | Alloc#7 100 realloc restored | AllocFailed#7 32+12 | Free#8 100 realloc");
}

TEST(Callbacks, AHookTakesTheSecondHalfOfARealloc) {
  EXPECT_EQ(eventsOf([] {
              __msl_on_free(7, kRealloc, at(100), 0);
              const runtime::PendingSite left = runtime::takeBlockSite(__msl_thread, Family::Heap, Verb::Realloc, 100);
              runtime::recordAlloc(Heap::Host, abi::kRealloc | abi::kFromHook, left.site, 200, 32);
              __msl_on_alloc(7, kRealloc, at(200), 32);
            }),
            "Free#7 100 realloc | Alloc#7 200+32 hook realloc");
}

// The program's own realloc calls an instrumented malloc, which overwrites the stored site of the realloc. If the
// realloc fails, the old block must be alive again.
TEST(Callbacks, AUsersReallocThatFailsBringsTheBlockBack) {
  EXPECT_EQ(eventsOf([] {
              __msl_on_free(7, kUserRealloc, at(100), 0);
              inside([] {
                __msl_before(9, kMalloc);
                __msl_on_alloc(9, kMalloc, nullptr, 64);
              });
              __msl_on_alloc(7, kUserRealloc, nullptr, 32);
            }),
            "Free#7 100 realloc | AllocFailed#9 64+12 | Alloc#7 100 realloc restored");
}

TEST(Callbacks, AReallocThatThrowsBringsTheBlockBack) {
  EXPECT_EQ(eventsOf([] {
              __msl_on_free(7, kUserRealloc, at(100), 0);
              __msl_cancel(7);
              mustBePlain();
              __msl_on_free(8, kUserRealloc, nullptr, 0);
              __msl_cancel(8);
              hookAlloc(200, 16);
            }),
            "Free#7 100 realloc | Alloc#7 100 realloc restored | Alloc#999 200+16 hook");
}

TEST(Callbacks, AHookThatTookAReallocBringsTheBlockBackItself) {
  EXPECT_EQ(eventsOf([] {
              __msl_on_free(7, kRealloc, at(100), 0);
              const uint32_t left = runtime::takeBlockSite(__msl_thread, Family::Heap, Verb::Realloc, 100).site;
              runtime::recordAlloc(Heap::Host, abi::kRealloc | abi::kRestored | abi::kFromHook, left, 100, 0);
              __msl_on_alloc(7, kRealloc, nullptr, 32);
              mustBePlain();
            }),
            "Free#7 100 realloc | Alloc#7 100 hook realloc restored");
}

TEST(Callbacks, AMappingMoves) {
  EXPECT_EQ(eventsOf([] {
              __msl_on_remap(7, kRemap, at(4096), 4096, 16384, MREMAP_MAYMOVE); // moves the first half of 8192 bytes
              __msl_on_alloc(7, kRemap, at(81920), 16384);
              mustBePlain();
            }),
            "Free#7 4096+4096 realloc | Alloc#7 81920+16384 realloc");
}

TEST(Callbacks, AFailedMremapIsNoMapping) {
  EXPECT_EQ(
      eventsOf([] {
        errno = ENOMEM;
        __msl_on_remap(7, kRemap, at(4096), 8192, 16384, 0);
        __msl_on_alloc(7, kRemap, MAP_FAILED, 16384);
        __msl_on_remap(8, kRemap, at(4096), 8192, 16384, 0);
        runtime::takeBlockSite(__msl_thread, Family::Mmap, Verb::Realloc, 4096); // a hook records the failure
        __msl_on_alloc(8, kRemap, MAP_FAILED, 16384);
        __msl_on_remap(9, kRemap, at(4096), 8192, 0, 0); // the kernel refuses this call
        __msl_on_alloc(9, kRemap, MAP_FAILED, 0);
      }),
      "Free#7 4096+8192 realloc | Alloc#7 4096 realloc restored | AllocFailed#7 16384+12 | Free#8 4096+8192 realloc");
}

TEST(Callbacks, WhatMremapLeavesInPlaceIsNotGivenBack) {
  EXPECT_EQ(eventsOf([] {
              __msl_on_remap(7, kRemap, at(4096), 8192, 8192, MREMAP_MAYMOVE | MREMAP_DONTUNMAP);
              __msl_on_alloc(7, kRemap, at(81920), 8192);
              __msl_on_remap(8, kRemap, at(4096), 0, 8192, MREMAP_MAYMOVE); // maps the range a second time
              __msl_on_alloc(8, kRemap, at(163840), 8192);
              __msl_on_remap(9, kRemap, at(4097), 4096, 4096, MREMAP_MAYMOVE); // the kernel refuses this call
              errno = EINVAL;
              __msl_on_alloc(9, kRemap, MAP_FAILED, 4096);
            }),
            "Alloc#7 81920+8192 | Alloc#8 163840+8192 | AllocFailed#9 4096+22");
}

TEST(Callbacks, WhatMunmapRefusesIsNotGivenBack) {
  EXPECT_EQ(eventsOf([] {
              __msl_on_free(7, kUnmap, at(4096), 0);
              __msl_on_free(8, kUnmap, at(4097), 4096);
              mustBePlain();
              __msl_on_free(9, kUnmap, at(4096), 100);
            }),
            "Free#9 4096+100");
}

TEST(Callbacks, MappingsWithoutMemoryAreReserved) {
  EXPECT_EQ(
      eventsOf([] {
        __msl_before(7, kMap);
        __msl_on_map(7, kMap, at(4096), 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
        __msl_before(8, kMap);
        __msl_on_map(8, kMap, at(81920), 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS);
        __msl_before(9, kMap);
        __msl_on_map(9, kMap, at(163840), 8192, PROT_READ, MAP_PRIVATE);
        __msl_before(10, kMap);
        errno = EACCES;
        __msl_on_map(10, kMap, MAP_FAILED, 8192, PROT_READ, MAP_PRIVATE);
      }),
      "Alloc#7 4096+8192 | Alloc#8 81920+8192 reserve | Alloc#9 163840+8192 reserve file | AllocFailed#10 8192+13");
}

// mprotect is recorded once, after the call, unless the kernel refused it. If a callback follows the call, the callback
// records it, otherwise the hook.
TEST(Callbacks, ProtectionIsRecordedWhereItChanges) {
  EXPECT_EQ(eventsOf([] {
              const auto protect = [](uint32_t site, int protection, int64_t status, bool hooked) {
                __msl_before(site, kProtect);
                if (hooked) {
                  hook::Call call{kProtect | abi::kFromHook << 16, hook::kPass, 999, 4096, 0, 0};
                  __msl_hook_enter(&call);
                  must(call.answer == hook::kAnnounced);
                  __msl_hook_begin(&call);
                  __msl_hook_end(&call);
                }
                __msl_on_protect(site, kProtect, at(4096), 8192, protection, status);
                mustBePlain();
              };
              protect(7, PROT_NONE, 0, false);
              protect(8, PROT_READ, -1, false);
              protect(9, PROT_READ | PROT_WRITE, 0, true);
              hook::Call call{kProtect | abi::kFromHook << 16, hook::kPass, 999, 4096, 0, 0};
              __msl_announce(10, kProtect); // a tail call is announced
              __msl_hook_enter(&call);
              must(call.answer == hook::kRecord && call.site == 10);
              __msl_before(call.site, call.traits);
              __msl_hook_begin(&call);
              __msl_hook_end(&call);
              __msl_on_protect(call.site, call.traits, at(4096), 4096, PROT_NONE, 0);
              mustBePlain();
            }),
            "Protect#7 4096+8192 reserve | Protect#9 4096+8192 | Protect#10 4096+4096 hook reserve");
}

// An allocator's own mappings and protections are not recorded.
TEST(Callbacks, AnAllocatorsOwnProtectionIsNotRecorded) {
  EXPECT_EQ(eventsOf([] {
              __msl_before(7, kMalloc);
              hook::Call call{kProtect | abi::kFromHook << 16, hook::kPass, 999, 4096, 0, 0};
              __msl_hook_enter(&call);
              must(call.answer == hook::kPass);
              inside([] {
                __msl_before(9, kProtect);
                __msl_on_protect(9, kProtect, at(4096), 8192, PROT_READ, 0);
                noTailCall();
              });
              __msl_on_alloc(7, kMalloc, at(4096), 12);
              mustBePlain();
            }),
            "Alloc#7 4096+12");
}

} // namespace
} // namespace msleaks::test
