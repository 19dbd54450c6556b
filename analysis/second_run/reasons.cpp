#include "analysis/second_run/reasons.h"

#include <fmt/format.h>

namespace msleaks::analysis::inline second_run {
namespace {

struct ReasonText {
  std::string_view name;
  const char *reason, *remedy;
};
constexpr ReasonText kReasons[] = {
#define MSL_REASON(name, text, reason, remedy) {text, reason, remedy},
#include "reasons.def"
};

const ReasonText &textOf(Reason reason) { return kReasons[static_cast<size_t>(reason)]; }

} // namespace

std::string_view nameOf(Reason reason) { return textOf(reason).name; }

UnseenFunction unseenFor(std::string symbol, Reason reason, std::string_view about) {
  const ReasonText &text = textOf(reason);
  return {std::move(symbol), reason, fmt::format(fmt::runtime(text.reason), about), text.remedy};
}

} // namespace msleaks::analysis::inline second_run
