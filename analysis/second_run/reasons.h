// Why msleaks does not see what a library asks of a function, and what to do about it (reasons.def).
#pragma once

#include <string>
#include <string_view>

namespace msleaks::analysis::inline second_run {

enum class Reason {
#define MSL_REASON(name, text, reason, remedy) name,
#include "reasons.def"
};
std::string_view nameOf(Reason);

struct UnseenFunction {
  std::string symbol; // "*": everything
  Reason kind{};
  std::string reason, remedy;
  bool operator==(const UnseenFunction &) const = default;
  auto operator<=>(const UnseenFunction &) const = default;
};

// `about`: what the reason's words leave open.
UnseenFunction unseenFor(std::string symbol, Reason, std::string_view about = "");

} // namespace msleaks::analysis::inline second_run
