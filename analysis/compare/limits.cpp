#include "analysis/compare/limits.h"

#include "analysis/base/command_line.h"

#include <charconv>
#include <cmath>
#include <fmt/format.h>

namespace msleaks::analysis::inline compare {
namespace {

std::optional<double> percentOf(std::string_view text) {
  double percent = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), percent);
  const bool whole = failed == std::errc() && end == text.data() + text.size();
  return whole && std::isfinite(percent) && percent >= 0 ? std::optional(percent) : std::nullopt;
}

uint64_t sum(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

template <class... Ts> struct Overloaded : Ts... {
  using Ts::operator()...;
};

} // namespace

Result<PeakLimit> parsePeakLimit(std::string_view text) {
  const bool more = text.starts_with('+');
  std::string_view amount = more ? text.substr(1) : text;
  if (amount.starts_with('+') || amount.starts_with('-'))
    amount = {};
  if (more && amount.ends_with('%')) {
    if (const auto percent = percentOf(amount.substr(0, amount.size() - 1)))
      return MorePercent{*percent};
  } else if (const auto bytes = parseByteSize(std::string(amount))) {
    return more ? PeakLimit(MoreBytes{*bytes}) : PeakLimit(AtMostBytes{*bytes});
  }
  return fail(
      fmt::format("--peak: `{}` is no limit: a size (512MiB), or how much more than the baseline (+2%, +10MiB)", text),
      ExitStatus::Usage);
}

Result<void> checkBaseline(const Limits &limits, bool has_baseline) {
  const bool is_relative = limits.peak && !std::holds_alternative<AtMostBytes>(*limits.peak);
  if (has_baseline || (!is_relative && !limits.new_places))
    return {};
  return fail(fmt::format("{} needs --baseline: a run, or a file that msleaks check --save wrote",
                          is_relative ? "--peak with a `+`" : "--sites new"),
              ExitStatus::Usage);
}

uint64_t mostBytes(const PeakLimit &limit, uint64_t baseline_bytes) {
  const auto percent = [&](MorePercent more) -> uint64_t {
    const long double added = static_cast<long double>(baseline_bytes) * more.percent / 100;
    return added >= 0x1p63L ? UINT64_MAX : sum(baseline_bytes, static_cast<uint64_t>(added));
  };
  return std::visit(Overloaded{[](AtMostBytes most) { return most.bytes; },
                               [&](MoreBytes more) { return sum(baseline_bytes, more.bytes); }, percent},
                    limit);
}

} // namespace msleaks::analysis::inline compare
