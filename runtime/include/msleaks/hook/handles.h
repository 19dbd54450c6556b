// Records the handles that a hooked call opens, retains or closes.
#pragma once

#include "msleaks/abi/handle_calls.h"
#include "msleaks/abi/hook.h"
#include "msleaks/hook/arguments.h"

#include <cstdint>
#include <type_traits>
#include <utility>

namespace msleaks {
namespace [[gnu::visibility("hidden")]] hook {

// Returns the effects of a function on handles. A row struct of a hook library contains them as
// kHandles.
template <class OfRow> constexpr abi::HandleCalls handlesOf() {
  if constexpr (requires { OfRow::kHandles; })
    return OfRow::kHandles;
  else
    return {};
}

// A row for a function that has effects on handles only.
template <class OfRow> struct HandlesOnly {
  static constexpr abi::HandleCalls kHandles = handlesOf<OfRow>();
  static constexpr abi::Symbol kRow = {
      .name = OfRow::kRow.name, .verb = abi::Verb::Handle, .family = kHandles.calls[0].family};
};

// Records the effects of a call on handles: closed handles before the call, and opened handles after it. In another
// order, a second thread could open a handle with the same number between the close and its event.
template <class OfRow, class Values> class Handles {
  static constexpr abi::HandleCalls kCalls = handlesOf<OfRow>();
  using HandleVerb = abi::HandleVerb;

public:
  static void before(const Call &call, const Values &values) {
    eachCall([&]<int kIndex>() {
      if constexpr (constexpr abi::HandleCall kCall = kCalls.calls[kIndex]; kCall.verb == HandleVerb::Closes)
        closed<kCall.kind>(call, values.template word<indexOf(kCall.at)>());
    });
  }
  template <class Result> static void after(const Call &call, const Values &values, Result result) {
    const bool done = isDone(result);
    eachCall([&]<int kIndex>() {
      constexpr abi::HandleCall kCall = kCalls.calls[kIndex];
      if constexpr (kCall.verb == HandleVerb::Opens) {
        if (done)
          openedBy<kIndex>(call, values, result);
      } else if constexpr (kCall.verb == HandleVerb::Retains || kCall.when == abi::CloseWhen::IfDone) {
        if (done == (kCall.verb == HandleVerb::Retains)) // a retain that succeeded, or a close that failed
          opened<kCall.kind, abi::kRestored>(call, values.template word<indexOf(kCall.at)>());
      }
    });
  }
  template <abi::HandleKind kKind, uint16_t kFlags = 0> static void opened(const Call &call, uint64_t handle) {
    if (__msl_on_opened != nullptr)
      __msl_on_opened(call.site, traits(kFlags), call.caller, static_cast<uint32_t>(kKind), handle);
  }
  template <abi::HandleKind kKind> static void closed(const Call &call, uint64_t handle) {
    if (__msl_on_closed != nullptr)
      __msl_on_closed(call.site, traits(0), call.caller, static_cast<uint32_t>(kKind), handle);
  }

private:
  static constexpr uint32_t traits(uint16_t flags) {
    return abi::Traits(abi::Verb::Handle, kCalls.calls[0].family, abi::Heap::Host, flags | abi::kFromHook).packed();
  }
  template <class F> static void eachCall(F f) {
    [&]<int... kIndex>(std::integer_sequence<int, kIndex...>) {
      (f.template operator()<kIndex>(), ...);
    }(std::make_integer_sequence<int, static_cast<int>(kCalls.count)>());
  }
  template <class Result> static bool isDone(Result result) {
    if constexpr (std::is_pointer_v<Result>)
      return result != nullptr;
    else
      return kCalls.returnsHandle() ? static_cast<int64_t>(result) >= 0 : static_cast<int64_t>(result) == 0;
  }
  template <class Value> static uint64_t wordOf(Value value) { return Arguments<Value>(value).template word<0>(); }
  template <int kIndex, class Result> static void openedBy(const Call &call, const Values &values, Result result) {
    constexpr abi::HandleCall kCall = kCalls.calls[kIndex];
    if constexpr (kCall.result == abi::HandleResult::Return) {
      opened<kCall.kind>(call, wordOf(result));
    } else if (const auto *where = values.template get<indexOf(kCall.at)>(); where != nullptr) {
      uint64_t count = kCall.result == abi::HandleResult::Pair ? 2 : 1; // NOLINT(misc-const-correctness): changed below
      if constexpr (kCall.result == abi::HandleResult::Each)
        count = *values.template get<indexOf(kCall.at) + 1>();
      for (uint64_t i = 0; i < count; ++i)
        opened<kCall.kind>(call, wordOf(where[i]));
    }
  }
};

} // namespace hook
} // namespace msleaks
