#include "analysis/collect/session_settings.h"

#include <atomic>
#include <charconv>
#include <fmt/format.h>
#include <type_traits>

namespace msleaks::analysis::inline collect {
namespace {

// Threads of the session may read the field at the same time.
template <class T> void storeShared(T &field, T value) {
  std::atomic_ref<T>(field).store(value, std::memory_order_relaxed);
}

constexpr std::string_view withoutDashes(std::string_view option) { return option.substr(2); }

template <class Number>
Result<void> setNumber(Number &field, std::string_view name, std::string_view text, Number minimum, Number maximum) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < minimum || value > maximum)
    return fail(fmt::format("{}: {} is no number in {}..{}", name, text, minimum, maximum), ExitStatus::Usage);
  storeShared(field, value);
  return {};
}

// The rings of a flight recorder have another layout and are read in another way. So a session cannot become a flight
// recorder, or stop being one.
Result<void> checkChange(abi::OnFull from, abi::OnFull to, std::string_view name) {
  if ((from == abi::OnFull::Overwrite) != (to == abi::OnFull::Overwrite))
    return fail(fmt::format("{}: overwrite can be chosen only when a session starts", name), ExitStatus::OwnFault);
  return {};
}
Result<void> checkChange(abi::CallStack, abi::CallStack, std::string_view) { return {}; }
Result<void> checkChange(abi::Reach, abi::Reach, std::string_view) { return {}; }
// Blocks from before the change would be missing.
Result<void> checkChange(abi::AccessSource from, abi::AccessSource to, std::string_view name) {
  if (from != to)
    return fail(fmt::format("{}: the source of uses can be chosen only when a session starts", name),
                ExitStatus::OwnFault);
  return {};
}
// Otherwise counts of two modes would be added up.
Result<void> checkChange(abi::CountMode from, abi::CountMode to, std::string_view name) {
  if (from != to)
    return fail(fmt::format("{}: the counted threads can be chosen only when a session starts", name),
                ExitStatus::OwnFault);
  return {};
}
Result<void> checkChange(abi::CountLaunches, abi::CountLaunches, std::string_view) { return {}; }
// A process decides this once for each image that it has loaded.
Result<void> checkChange(abi::ImportPaths from, abi::ImportPaths to, std::string_view name) {
  if (from != to)
    return fail(fmt::format("{}: which calls are apart is chosen when a session starts, not later", name),
                ExitStatus::OwnFault);
  return {};
}
// A process replaces the functions of Python once.
Result<void> checkChange(abi::PythonObjects from, abi::PythonObjects to, std::string_view name) {
  if (from != to)
    return fail(fmt::format("{}: whether objects are sampled is chosen when a session starts, not later", name),
                ExitStatus::OwnFault);
  return {};
}

// NOLINTNEXTLINE(readability-function-size): one case for each value
template <class Choice> Result<void> setChoice(Choice &field, std::string_view name, std::string_view text) {
#define MSL_VALUE(type, value, word, doc)                                                                              \
  if constexpr (std::is_same_v<Choice, abi::type>)                                                                     \
    if (text == word) {                                                                                                \
      MSL_TRY(checkChange(field, abi::type::value, name));                                                             \
      storeShared(field, abi::type::value);                                                                            \
      return {};                                                                                                       \
    }
#include "msleaks/abi/flags.def"
  return fail(fmt::format("{}: {} is not one of its values; see msleaks-run --help-all", name, text),
              ExitStatus::Usage);
}

Result<void> changeOne(abi::Flags &flags, std::string_view name, std::string_view value) {
#define MSL_FLAG(type, field, standard, option, minimum, maximum, group, doc)                                          \
  if (name == withoutDashes(option))                                                                                   \
    return setNumber<type>(flags.field, name, value, minimum, maximum);
#define MSL_CHOICE(type, field, standard, option, group, doc)                                                          \
  if (name == withoutDashes(option))                                                                                   \
    return setChoice(flags.field, name, value);
#include "msleaks/abi/flags.def"
  return fail(fmt::format("{}: no such setting; see msleaks-run --help-all", name), ExitStatus::Usage);
}

} // namespace

Result<void> changeSetting(abi::ControlPage &control, std::string_view name, std::string_view value) {
  abi::Flags wanted = control.flags;
  MSL_TRY(changeOne(wanted, name, value));
  if (wanted.ring_kib > wanted.ring_max_kib)
    return fail(fmt::format("{}={}: a first ring of {} KiB is larger than the largest, {} KiB", name, value,
                            wanted.ring_kib, wanted.ring_max_kib),
                ExitStatus::Usage);
  return changeOne(control.flags, name, value);
}

} // namespace msleaks::analysis::inline collect
