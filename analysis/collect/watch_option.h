// Reads the option --watch (docs/watch.md): an address, a line of the source, or the name of a watch in the program.
#pragma once

#include "analysis/base/result.h"
#include "msleaks/abi/session.h"

#include <span>
#include <string>
#include <string_view>

namespace msleaks::analysis::inline collect {

struct WatchOption {
  abi::WatchWish wish{};
  bool full_content = false; // the contents of the blocks are stored, too
};

// "0x7f0000001000:4096", "train.c:31" or "weights". Operations may follow: ",begin,end", and then ",full-content".
Result<WatchOption> parseWatch(std::string_view text);

// Finds --watch among a session's options in the manifest. Without it, nothing is watched.
abi::WatchWish watchOf(std::span<const std::string> options);

} // namespace msleaks::analysis::inline collect
