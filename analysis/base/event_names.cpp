#include "analysis/base/event_names.h"

#include "msleaks/abi/session.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace msleaks::analysis::inline base {
namespace {

struct EventName {
  std::string written, defined;
  abi::EventKind kind;
};

// "AllocFailed" -> "alloc-failed"
std::string kebabCase(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper && !text.empty())
      text += '-';
    text += upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return text;
}

std::vector<EventName> allEvents() {
  return {
#define MSL_EVENT(name, number, slots, doc) {kebabCase(#name), #name, abi::EventKind::name},
#include "msleaks/abi/events.def"
  };
}

} // namespace

namespace {

template <class Wanted> std::string namesWhere(Wanted wanted) {
  std::string text;
  for (const EventName &event : allEvents())
    if (wanted(event.kind))
      text += (text.empty() ? "" : ", ") + event.written;
  return text;
}

} // namespace

std::string eventNames() {
  return namesWhere([](abi::EventKind) { return true; });
}

std::string recordedEventNames() {
  return namesWhere([](abi::EventKind kind) { return !abi::isOfKernel(kind); });
}

Result<uint64_t> kindBits(std::string_view option, std::string_view list) {
  const std::vector<EventName> events = allEvents();
  uint64_t bits = 0;
  for (size_t begin = 0; begin < list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    const std::string_view word = list.substr(begin, end - begin);
    const auto event = std::find_if(events.begin(), events.end(), [word](const EventName &known) {
      return known.written == word || known.defined == word;
    });
    if (event == events.end())
      return fail(fmt::format("{}: '{}' is none of {}", option, word, eventNames()), ExitStatus::Usage);
    bits |= kindBit(event->kind);
    begin = end + 1;
  }
  if (bits == 0)
    return fail(fmt::format("{} names no event; there are {}", option, eventNames()), ExitStatus::Usage);
  return bits;
}

Result<uint32_t> eventBits(std::string_view option, std::string_view list) {
  const uint64_t kinds = MSL_TRY(kindBits(option, list));
  uint32_t bits = 0;
  for (const EventName &event : allEvents()) {
    if ((kinds & kindBit(event.kind)) == 0)
      continue;
    if (abi::isOfKernel(event.kind))
      return fail(fmt::format("{}: {} is kernel evidence, which --kernel chooses", option, event.written),
                  ExitStatus::Usage);
    bits |= abi::enabledBit(event.kind);
  }
  return bits;
}

} // namespace msleaks::analysis::inline base
