// Declares handle_calls.def, the table of the effects of functions on handles, as a constexpr array.
#pragma once

#include "msleaks/abi/handles.h"
#include "msleaks/abi/symbols.h"

#include <string_view>

namespace msleaks::abi {

enum class HandleVerb : uint8_t { Opens, Retains, Closes };

// The way in which a call returns the handles that it has opened.
enum class HandleResult : uint8_t { None, Return, Out, Pair, Each };

// Which calls close the handle: only a call that succeeds (IfDone), or also a call that fails (Always).
enum class CloseWhen : uint8_t { IfDone, Always };

// One row of handle_calls.def. A function may have several rows.
struct HandleCall {
  std::string_view name;
  HandleVerb verb{};
  Family family{};
  HandleKind kind{};
  HandleResult result = HandleResult::None; // for Opens only
  Position at{};                            // position of the result for Opens, else of the handle
  CloseWhen when = CloseWhen::IfDone;
};

namespace detail::Handles {
struct Opened {
  HandleResult kind;
  Position at;
};
inline constexpr Opened RETURN{HandleResult::Return, {}};
constexpr Opened OUT(int index) { return {HandleResult::Out, Position(index)}; }
constexpr Opened PAIR(int index) { return {HandleResult::Pair, Position(index)}; }
constexpr Opened EACH(int index) { return {HandleResult::Each, Position(index)}; }
constexpr Position ARG(int index) { return Position(index); }
inline constexpr CloseWhen IF_DONE = CloseWhen::IfDone, ALWAYS = CloseWhen::Always;

constexpr HandleCall opens(std::string_view name, Family family, HandleKind kind, Opened opened) {
  return {name, HandleVerb::Opens, family, kind, opened.kind, opened.at};
}
constexpr HandleCall retains(std::string_view name, Family family, HandleKind kind, Position at) {
  return {name, HandleVerb::Retains, family, kind, HandleResult::None, at};
}
constexpr HandleCall closes(std::string_view name, Family family, HandleKind kind, Position at, CloseWhen when) {
  return {name, HandleVerb::Closes, family, kind, HandleResult::None, at, when};
}

inline constexpr HandleCall kCalls[] = {
#define MSL_OPENS(symbol, fam, handle, result) opens(#symbol, Family::fam, HandleKind::handle, result),
#define MSL_RETAINS(symbol, fam, handle, at) retains(#symbol, Family::fam, HandleKind::handle, at),
#define MSL_CLOSES(symbol, fam, handle, at, when) closes(#symbol, Family::fam, HandleKind::handle, at, when),
#include "msleaks/abi/handle_calls.def"
};
} // namespace detail::Handles

// All rows of one function.
struct HandleCalls {
  static constexpr unsigned kMost = 4;
  HandleCall calls[kMost];
  unsigned count = 0;

  // Whether the call returns a handle. If it does not, an integer result of 0 means success.
  constexpr bool returnsHandle() const {
    for (unsigned i = 0; i < count; ++i)
      if (calls[i].result == HandleResult::Return)
        return true;
    return false;
  }
};

constexpr HandleCalls handleCallsOf(std::string_view name) {
  HandleCalls found{};
  for (const HandleCall &call : detail::Handles::kCalls)
    if (call.name == name)
      found.calls[found.count++] = call;
  return found;
}

} // namespace msleaks::abi
