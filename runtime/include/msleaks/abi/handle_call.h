// Declares the effect of a function on a handle.
#pragma once

#include "msleaks/abi/handles.h"
#include "msleaks/abi/symbol.h"

#include <string_view>

namespace msleaks::abi {

enum class HandleVerb : uint8_t { Opens, Retains, Closes };

// The way in which a call returns the handles that it has opened.
enum class HandleResult : uint8_t { None, Return, Out, Pair, Each };

// Which calls close the handle: only a call that succeeds (IfDone), or also a call that fails (Always).
enum class CloseWhen : uint8_t { IfDone, Always };

// One effect of a function on handles. A function may have several.
struct HandleCall {
  std::string_view name{};
  HandleVerb verb{};
  Family family{};
  HandleKind kind{};
  HandleResult result = HandleResult::None; // for Opens only
  Position at{};                            // position of the result for Opens, else of the handle
  CloseWhen when = CloseWhen::IfDone;
};

} // namespace msleaks::abi
