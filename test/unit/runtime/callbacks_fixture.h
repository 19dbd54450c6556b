// Helpers for the tests of the callbacks: encoded traits, functions that record like hooks but allocate nothing, and a
// function that returns events as text.
#pragma once

#include "session_fixture.h"

#include "msleaks/abi/callbacks.h"
#include "msleaks/abi/hook.h"
#include "msleaks/runtime/pending.h"

#include <cerrno>
#include <string>
#include <sys/mman.h>

namespace msleaks::test {
using abi::Family;
using abi::Heap;
using abi::Traits;
using abi::Verb;

inline constexpr uint32_t kMalloc = Traits(Verb::Alloc, Family::Heap, Heap::Host, 0).packed();
inline constexpr uint32_t kRealloc = Traits(Verb::Realloc, Family::Heap, Heap::Host, abi::kRealloc).packed();
inline constexpr uint32_t kFree = Traits(Verb::Free, Family::Heap, Heap::Host, 0).packed();
inline constexpr uint32_t kUser = Traits(Verb::Alloc, Family::User, Heap::Pool, 0).packed();
inline constexpr uint32_t kMap = Traits(Verb::Map, Family::Mmap, Heap::Mapping, 0).packed();
inline constexpr uint32_t kDevice = Traits(Verb::Alloc, Family::Cuda, Heap::Device, abi::kAsync).packed();
inline constexpr uint32_t kDeviceFree = Traits(Verb::Free, Family::Cuda, Heap::Device, 0).packed();
inline constexpr uint32_t kUnmap = Traits(Verb::Free, Family::Mmap, Heap::Mapping, 0).packed();
inline constexpr uint32_t kRemap = Traits(Verb::Realloc, Family::Mmap, Heap::Mapping, abi::kRealloc).packed();
inline constexpr uint32_t kProtect = Traits(Verb::Protect, Family::Mmap, Heap::Mapping, 0).packed();
inline constexpr uint32_t kWrap = Traits(Verb::Wrap, Family::User, Heap::Pool, 0).packed();
inline constexpr uint32_t kUserRealloc = Traits(Verb::Realloc, Family::User, Heap::Pool, abi::kRealloc).packed();
inline constexpr uint32_t kLaunch = Traits(Verb::Launch, Family::Cuda, Heap::Device, 0).packed();

inline const void *at(uint64_t address) { return reinterpret_cast<const void *>(address); }

// Records an allocation as the hook of malloc does, but allocates nothing.
inline void hookAlloc(uint64_t address, uint64_t size) {
  runtime::Thread &thread = __msl_thread;
  const uint32_t left = runtime::takeAllocSite(thread, Family::Heap);
  runtime::recordAlloc(Heap::Host, abi::kFromHook, left != 0 ? left : 999, address, size);
}

inline void hookFree(uint64_t address) {
  if (runtime::takeBlockSite(__msl_thread, Family::Heap, Verb::Free, address).site == 0)
    runtime::recordFree(Heap::Host, abi::kFromHook, 999, address, 0);
}

inline void recordMapping(uint64_t address, uint64_t size) {
  runtime::recordAlloc(Heap::Mapping, abi::kFromHook, 999, address, size);
}

// inside() calls the body deeper on the stack, like code inside an allocator's call. noTailCall() prevents a tail call
// of the body.
inline void noTailCall() { __asm__ volatile("" : : : "memory"); }
[[gnu::noinline]] inline void inside(const std::function<void()> &body) {
  body();
  noTailCall();
}

// Checks a condition in the child process of a test. If the condition is false, the child exits with status 9.
inline void must(bool holds) {
  if (!holds)
    ::_exit(9);
}
inline void mustBePlain() { must(runtime::isPlain(__msl_thread)); }

// Returns the events as text, such as "Alloc#7 100+16 | Free#8 100". For each event, the text contains the kind, the
// site and the first two fields.
inline std::string eventsIn(const SessionDirectory &session, const std::function<void()> &body) {
  EXPECT_EQ(session.runChild(body), 0);
  std::string text;
  for (const ReadEvent &read : session.drain()) {
    const abi::EventHeader &header = read.event.header();
    text += (text.empty() ? "" : " | ") + std::string(abi::nameOf(header.kind)) + "#" + std::to_string(header.site);
    const char *separator = " ";
    abi::dispatch(read.event, [&](const auto &event) {
      abi::visitFields(event, [&](const char *, abi::Repr, const auto &field) {
        if (separator[0] == ' ' || (separator[0] == '+' && field != 0))
          text += separator + std::to_string(field);
        separator = separator[0] == ' ' ? "+" : "-";
      });
    });
    for (const auto &[bit, name] : {std::pair{abi::kFromHook, "hook"},
                                    {abi::kRealloc, "realloc"},
                                    {abi::kRestored, "restored"},
                                    {abi::kReserve, "reserve"},
                                    {abi::kFile, "file"},
                                    {abi::kAsync, "async"}})
      if (header.flags & bit)
        text += std::string(" ") + name;
  }
  return text;
}

inline std::string eventsOf(const std::function<void()> &body) { return eventsIn(SessionDirectory(), body); }

} // namespace msleaks::test
