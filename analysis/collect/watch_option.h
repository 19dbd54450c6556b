// What --watch names (docs/watch.md): an address, a line of the source, or a watch of the program's own.
#pragma once

#include "analysis/base/result.h"
#include "msleaks/abi/session.h"

#include <span>
#include <string>
#include <string_view>

namespace msleaks::analysis::inline collect {

struct WatchOption {
  abi::WatchWish wish{};
  bool full_content = false; // what the blocks hold is kept, too
};

// "0x7f0000001000:4096", "train.c:31", "weights", each with operations behind it, ",begin,end", and ",full-content".
Result<WatchOption> parseWatch(std::string_view text);

// Of a session's options, as the manifest has them; nothing is watched where none says so.
abi::WatchWish watchOf(std::span<const std::string> options);

} // namespace msleaks::analysis::inline collect
