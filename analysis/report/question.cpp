#include "analysis/report/question.h"

#include <charconv>
#include <cmath>
#include <fmt/format.h>

namespace msleaks::analysis::inline report {
namespace {

tl::unexpected<Error> usage(std::string message) {
  return tl::make_unexpected(Error{std::move(message), ExitStatus::Usage});
}

std::optional<uint64_t> nanosecondsOf(std::string_view text) {
  double number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  constexpr std::pair<std::string_view, double> kUnits[] = {{"", 1e9},     {"s", 1e9},    {"ms", 1e6}, {"us", 1e3},
                                                            {"min", 60e9}, {"h", 3600e9}, {"ns", 1}};
  if (failed != std::errc() || !std::isfinite(number) || number < 0)
    return std::nullopt;
  for (const auto &[name, factor] : kUnits)
    if (unit == name && number * factor < 9e18)
      return static_cast<uint64_t>(number * factor);
  return std::nullopt;
}

// False if a moment is a step or a mark, because only the recording tells their times.
bool areInWrongOrder(const std::optional<Moment> &first, const std::optional<Moment> &second) {
  const uint64_t *first_ns = first ? std::get_if<uint64_t>(&*first) : nullptr;
  const uint64_t *second_ns = second ? std::get_if<uint64_t>(&*second) : nullptr;
  return first_ns && second_ns && *first_ns >= *second_ns;
}

} // namespace

Result<Moment> parseMoment(std::string_view text) {
  constexpr std::string_view kStep = "step:", kMark = "mark:";
  if (text.starts_with(kMark) && text.size() > kMark.size())
    return MarkNamed{std::string(text.substr(kMark.size()))};
  if (text.starts_with(kStep)) {
    uint64_t number = 0;
    const auto [end, failed] = std::from_chars(text.data() + kStep.size(), text.data() + text.size(), number);
    if (failed == std::errc() && end == text.data() + text.size())
      return StepBegin{number};
  }
  if (const auto time_ns = nanosecondsOf(text))
    return *time_ns;
  return usage(fmt::format("`{}` is no moment: a time since the start (1.5s, 20ms, 2min), step:N or mark:NAME", text));
}

Result<State> parseState(std::string_view text) {
  const std::string name(text);
  if (text == "peak")
    return State{PeakMoment{}, name};
  if (text == "end")
    return State{EndMoment{}, name};
  auto moment = parseMoment(text);
  if (!moment)
    return usage(moment.error().message + "; for --at also peak or end");
  return State{*std::move(moment), name};
}

Result<Window> parseWindow(std::string_view from, std::string_view to, std::string_view born_until) {
  Window window;
  if (!from.empty())
    window.from = MSL_TRY(parseMoment(from));
  if (!to.empty())
    window.to = MSL_TRY(parseMoment(to));
  if (!born_until.empty())
    window.born_until = MSL_TRY(parseMoment(born_until));
  if (areInWrongOrder(window.from, window.to))
    return usage(fmt::format("the window is empty: --from {} is not before --to {}", from, to));
  if (areInWrongOrder(window.from, window.born_until))
    return usage(fmt::format("no block counts: --from {} is not before --born-until {}", from, born_until));
  if (areInWrongOrder(window.born_until, window.to))
    return usage(fmt::format("--born-until {} is not before --to {}", born_until, to));
  return window;
}

Result<abi::Heap> parseHeap(std::string_view name) {
  std::string names;
  for (uint8_t heap = 0; heap < static_cast<uint8_t>(abi::Heap::Count); ++heap) {
    const std::string_view known = abi::nameOf(static_cast<abi::Heap>(heap));
    if (known == name)
      return static_cast<abi::Heap>(heap);
    names.append(names.empty() ? "" : ", ").append(known);
  }
  return usage(fmt::format("`{}` is no heap: {}", name, names));
}

Result<Policy> parsePolicy(std::string_view name) {
  if (name == "effect")
    return Policy::Effect;
  if (name == "msmemscope")
    return Policy::MsMemScope;
  return usage(fmt::format("`{}` is no policy: effect, msmemscope", name));
}

Result<Dimension> parseDimension(std::string_view name) {
  if (const auto dimension = dimensionNamed(name))
    return *dimension;
  return usage(fmt::format("`{}` is nothing to group by: {}", name, namesOfDimensions()));
}

} // namespace msleaks::analysis::inline report
