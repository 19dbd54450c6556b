// The reasons why msleaks does not see a library's call of a function, and the remedies (reasons.def).
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
  std::string symbol; // "*": all functions
  Reason kind{};
  std::string reason, remedy;
  bool operator==(const UnseenFunction &) const = default;
  auto operator<=>(const UnseenFunction &) const = default;
};

// `about` replaces the {} of the reason.
UnseenFunction unseenFor(std::string symbol, Reason, std::string_view about = "");

} // namespace msleaks::analysis::inline second_run
