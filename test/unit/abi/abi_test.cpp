#include "msleaks/abi/callbacks.h"
#include "msleaks/abi/definitions.h"
#include "msleaks/abi/events.h"
#include "msleaks/abi/handle_calls.h"
#include "msleaks/abi/session.h"
#include "msleaks/abi/site_table.h"
#include "msleaks/abi/symbols.h"

#include <cstring>
#include <gtest/gtest.h>
#include <set>
#include <string>

namespace msleaks::abi {
namespace {

// Other programs and other versions of msleaks read records. So these tests compare every byte with the documented
// layout.
TEST(Events, AllocHasTheDocumentedBytes) {
  AllocEvent event{{EventKind::Alloc, Heap::Device, 3, kFromHook | kZeroed | kWrite, 0x01020304, 0x1112131415161718},
                   0x2122232425262728,
                   0x3132333435363738};
  const unsigned char expected[32] = {1,    0x32, 0x10, 0x11, 0x04, 0x03, 0x02, 0x01, 0x18, 0x17, 0x16,
                                      0x15, 0x14, 0x13, 0x12, 0x11, 0x28, 0x27, 0x26, 0x25, 0x24, 0x23,
                                      0x22, 0x21, 0x38, 0x37, 0x36, 0x35, 0x34, 0x33, 0x32, 0x31};
  EXPECT_EQ(std::memcmp(&event, expected, sizeof expected), 0);
}

TEST(Events, TheFirstWordIsTheHeader) {
  const EventHeader header{EventKind::Copy, Heap::Pool, 200, kWrite | kAfterGap, 0x89abcdef, 0};
  const uint64_t word = firstWord(EventKind::Copy, Heap::Pool, 200, kWrite | kAfterGap, 0x89abcdef);
  EXPECT_EQ(std::memcmp(&header, &word, sizeof word), 0);
}

TEST(Events, SecondSlotTellsThatItContinues) {
  LaunchEvent event{};
  event.header.kind = EventKind::Launch;
  event.continuation = kContinuationTag;
  Slot slots[2];
  static_assert(sizeof event == sizeof slots);
  std::memcpy(slots, &event, sizeof event);
  EXPECT_EQ(slots[1].header.kind, EventKind::Continuation);
}

TEST(Events, VisitFieldsNamesEachFieldInOrder) {
  CopyEvent event{};
  std::string names;
  visitFields(event, [&](const char *name, Repr, auto &value) {
    names += name + std::string(" ");
    value = 7;
  });
  EXPECT_EQ(names, "destination source size stream direction ");
  EXPECT_EQ(event.direction, 7u);
}

TEST(Events, DispatchGivesTheEventAsItsOwnType) {
  FreeEvent event{};
  event.header.kind = EventKind::Free;
  event.address = 0x1000;
  uint64_t seen = 0;
  EXPECT_TRUE(dispatch(AnyEvent::from(event), [&](const auto &typed) {
    if constexpr (requires { typed.address; })
      seen = typed.address;
  }));
  EXPECT_EQ(seen, 0x1000u);
}

TEST(Events, AnUnknownKindIsRefused) {
  AnyEvent event{};
  event.header().kind = static_cast<EventKind>(200);
  EXPECT_FALSE(dispatch(event, [](const auto &) { FAIL(); }));
  EXPECT_EQ(slotsOf(event.header().kind), 0u);
}

TEST(Events, KindsFitTheEnabledMask) {
  uint32_t taken = kPathBits | kKernelEvidence;
#define MSL_EVENT(name, number, slots, doc)                                                                            \
  static_assert(number > 0 && number < 64, "a choice of kinds has 64 bits");                                           \
  if (isOfKernel(EventKind::name)) {                                                                                   \
    EXPECT_EQ(enabledBit(EventKind::name), kKernelEvidence) << #name;                                                  \
  } else {                                                                                                             \
    EXPECT_EQ(taken & enabledBit(EventKind::name), 0u) << #name;                                                       \
    taken |= enabledBit(EventKind::name);                                                                              \
  }
#include "msleaks/abi/events.def"
}

TEST(Symbols, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const Symbol &symbol : kSymbols)
    EXPECT_TRUE(names.insert(symbol.name).second) << symbol.name;
}

TEST(Symbols, EachVerbHasThePositionsItNeeds) {
  for (const Symbol &symbol : kSymbols) {
    switch (symbol.verb) {
    case Verb::Alloc:
      EXPECT_TRUE(symbol.size.present() && symbol.result.kind != ResultKind::None) << symbol.name;
      break;
    case Verb::Realloc:
      EXPECT_TRUE(symbol.size.present() && symbol.address.present()) << symbol.name;
      break;
    case Verb::Map:
      EXPECT_TRUE(symbol.size.present() && symbol.protection.present() && symbol.mapping.present()) << symbol.name;
      break;
    case Verb::Free:
    case Verb::Retain:
      EXPECT_TRUE(symbol.address.present()) << symbol.name;
      break;
    case Verb::Launch:
      EXPECT_TRUE(symbol.kernel.present()) << symbol.name;
      EXPECT_TRUE(symbol.stream.present() || symbol.shape.kind == ShapeKind::Config) << symbol.name;
      break;
    case Verb::Copy:
      EXPECT_TRUE(symbol.address.present() && symbol.source.present() && symbol.size.present()) << symbol.name;
      break;
    case Verb::Set:
      EXPECT_TRUE(symbol.address.present() && symbol.size.present()) << symbol.name;
      break;
    case Verb::Protect:
      EXPECT_TRUE(symbol.address.present() && symbol.size.present() && symbol.protection.present()) << symbol.name;
      break;
    case Verb::Argument:
      EXPECT_TRUE(symbol.kernel.present() && symbol.index.present() && symbol.value.present()) << symbol.name;
      break;
    case Verb::Kernel:
      EXPECT_EQ(symbol.result.kind, ResultKind::Return) << symbol.name;
      break;
    case Verb::Device:
      EXPECT_TRUE(symbol.index.present()) << symbol.name;
      break;
    case Verb::Show:
      EXPECT_EQ(symbol.address.present(), symbol.size.present()) << symbol.name;
      if (symbol.address.present())
        EXPECT_EQ(symbol.source.present(), symbol.value.present()) << symbol.name;
      else // here the call returns a new handle of the block
        EXPECT_TRUE(symbol.source.present()) << symbol.name;
      break;
    case Verb::Access:
      break; // nothing to check: without positions, the accessed memory is unknown
    case Verb::Handle:
      ADD_FAILURE() << symbol.name << " is an effect on a handle";
      break;
    case Verb::Wrap:
      ADD_FAILURE() << symbol.name << " hands out blocks of its own";
      break;
    }
  }
}

TEST(Symbols, PositionsCountFromEitherEnd) {
  const Symbol &launch = *findSymbol("cudaLaunchKernel");
  EXPECT_EQ(launch.kernel.resolve(6), 0);
  EXPECT_EQ(launch.stream.resolve(6), 5);
  EXPECT_EQ(launch.stream.resolve(8), 7); // the x86-64 ABI passes one dim3 as two arguments
  EXPECT_EQ(Position(4).resolve(4), -1);
  EXPECT_EQ(Position(-5).resolve(4), -1);
  EXPECT_EQ(Position().resolve(4), -1);
}

TEST(Symbols, EveryDeleteFormIsKnown) {
  // The table must contain these forms of operator delete and delete[]: plain, sized, nothrow, aligned, sized aligned,
  // and aligned nothrow.
  for (const char *operatorName : {"_Zdl", "_Zda"})
    for (const char *form : {"Pv", "Pvm", "PvRKSt9nothrow_t", "PvSt11align_val_t", "PvmSt11align_val_t",
                             "PvSt11align_val_tRKSt9nothrow_t"})
      EXPECT_NE(findSymbol(std::string(operatorName) + form), nullptr) << operatorName << form;
}

TEST(Traits, SurviveTheImmediateOperand) {
  constexpr Traits traits(Verb::Realloc, Family::OpenCl, Heap::Managed, kRealloc | kAsync | 0xa00);
  constexpr Traits same(traits.packed());
  EXPECT_EQ(same.verb(), Verb::Realloc);
  EXPECT_EQ(same.family(), Family::OpenCl);
  EXPECT_EQ(same.heap(), Heap::Managed);
  EXPECT_EQ(same.flags(), kRealloc | kAsync | 0xa00);
}

// Compiled objects contain encoded traits. So the encoding must stay the same in all versions.
TEST(Traits, OfTheFirstVersionMeanTheSame) {
  constexpr Traits traits(0x01'14'05'04u); // realloc, flags 0x14, OpenCL, managed
  EXPECT_EQ(traits, Traits(Verb::Realloc, Family::OpenCl, Heap::Managed, 0x14));
}

// Compiled objects and traces contain the numbers of the tables' rows. So a new row must be added at the end of its
// table, and no row may be removed.
TEST(Numbers, AreTheOnesOfTheFirstVersion) {
  const auto number = [](auto value) { return static_cast<unsigned>(value); };
  EXPECT_EQ(number(Heap::Host), 0u);
  EXPECT_EQ(number(Heap::Mapping), 1u);
  EXPECT_EQ(number(Heap::Device), 2u);
  EXPECT_EQ(number(Heap::Pinned), 3u);
  EXPECT_EQ(number(Heap::Managed), 4u);
  EXPECT_EQ(number(Heap::Pool), 5u);
  EXPECT_EQ(number(Heap::Registered), 6u);
  EXPECT_EQ(number(Heap::Python), 7u);
  EXPECT_EQ(number(Heap::Imported), 8u);
  EXPECT_EQ(number(Family::Heap), 0u);
  EXPECT_EQ(number(Family::Mmap), 1u);
  EXPECT_EQ(number(Family::Cuda), 2u);
  EXPECT_EQ(number(Family::Hip), 3u);
  EXPECT_EQ(number(Family::Acl), 4u);
  EXPECT_EQ(number(Family::OpenCl), 5u);
  EXPECT_EQ(number(Family::User), 6u);
  EXPECT_EQ(number(Family::System), 7u);
  EXPECT_EQ(number(Verb::Alloc), 0u);
  EXPECT_EQ(number(Verb::Realloc), 1u);
  EXPECT_EQ(number(Verb::Map), 2u);
  EXPECT_EQ(number(Verb::Free), 3u);
  EXPECT_EQ(number(Verb::Retain), 4u);
  EXPECT_EQ(number(Verb::Launch), 5u);
  EXPECT_EQ(number(Verb::Copy), 6u);
  EXPECT_EQ(number(Verb::Set), 7u);
  EXPECT_EQ(number(Verb::Wrap), 8u);
  EXPECT_EQ(number(Verb::Protect), 9u);
  EXPECT_EQ(number(Verb::Argument), 10u);
  EXPECT_EQ(number(Verb::Kernel), 11u);
  EXPECT_EQ(number(Verb::Access), 12u);
  EXPECT_EQ(number(Verb::Device), 13u);
  EXPECT_EQ(number(Verb::Handle), 14u);
  EXPECT_EQ(number(Verb::Show), 15u);
  EXPECT_EQ(number(EventKind::Opened), 22u);
  EXPECT_EQ(number(EventKind::Closed), 23u);
  EXPECT_EQ(number(HandleKind::ClContext), 1u);
  EXPECT_EQ(number(HandleKind::Thread), 16u);
  EXPECT_EQ(kFromHook, 1u << 0);
  EXPECT_EQ(kReserve, 1u << 6);
  EXPECT_EQ(kFile, 1u << 9);
  EXPECT_EQ(kListed, 1u << 10);
}

TEST(HandleCalls, SayWhatAFunctionDoes) {
  constexpr HandleCalls kKnown = handleCallsOf("dup2");
  static_assert(kKnown.count == 2 && kKnown.returnsHandle());
  EXPECT_EQ(kKnown.calls[0].verb, HandleVerb::Closes);
  EXPECT_EQ(kKnown.calls[0].at, Position(1));
  EXPECT_EQ(kKnown.calls[1].verb, HandleVerb::Opens);
  EXPECT_FALSE(handleCallsOf("pipe").returnsHandle());
  EXPECT_EQ(handleCallsOf("malloc").count, 0u);
}

// For each kind of handle, the table must have a function that creates handles of this kind and one that destroys them.
TEST(HandleCalls, EachKindIsMadeAndGivenBack) {
#define MSL_HANDLE(name, number, text, back, doc)                                                                      \
  {                                                                                                                    \
    std::set<HandleVerb> verbs;                                                                                        \
    for (const HandleCall &call : kHandleCalls)                                                                        \
      if (call.kind == HandleKind::name)                                                                               \
        verbs.insert(call.verb);                                                                                       \
    EXPECT_TRUE(verbs.contains(HandleVerb::Opens) && verbs.contains(HandleVerb::Closes)) << text;                      \
    EXPECT_EQ(verbs.contains(HandleVerb::Retains), std::string_view(text).starts_with("cl_")) << text;                 \
  }
#include "msleaks/abi/handles.def"
  EXPECT_EQ(nameOf(HandleKind::None), nullptr);
  EXPECT_EQ(nameOf(static_cast<HandleKind>(200)), nullptr);
}

TEST(SiteTable, ChecksumIsFnv1a) {
  // Published test vector of the 32-bit hash FNV-1a.
  EXPECT_EQ(fnv1a32(reinterpret_cast<const unsigned char *>("foobar"), 6), 0xbf9cf968u);
}

} // namespace
} // namespace msleaks::abi
