// Kernel evidence in an event (docs/kernel.md): it names its thread itself, and its time is its end.
#pragma once

#include "analysis/base/task_name.h"
#include "msleaks/abi/events.h"
#include "msleaks/abi/session.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace msleaks::analysis::inline exporters {

struct KernelFacts {
  uint32_t pid = 0, tid = 0;
  uint64_t begin_ns = 0;
};

// Returns nothing for an event that a thread of the program recorded, and for the arguments of a call.
inline std::optional<KernelFacts> kernelFactsOf(const abi::AnyEvent &event) {
  const abi::EventHeader &header = event.header();
  if (!abi::isOfKernel(header.kind) || header.kind == abi::EventKind::Took)
    return {};
  std::optional<KernelFacts> facts;
  uint64_t duration_ns = 0;
  abi::dispatch(event, [&](const auto &fields) {
    abi::visitFields(fields, [&](std::string_view name, abi::Repr, auto value) {
      if (name == "of_pid")
        facts.emplace().pid = static_cast<uint32_t>(value);
      else if (name == "of_tid" && facts)
        facts->tid = static_cast<uint32_t>(value);
      else if (name == "duration_ns")
        duration_ns = value;
    });
  });
  if (facts)
    facts->begin_ns = header.time - std::min(header.time, duration_ns);
  return facts;
}

// Whether a field names the thread: its value is shown as pid and tid.
constexpr bool namesThread(std::string_view field) { return field == "of_pid" || field == "of_tid"; }

constexpr std::string_view nameOfStatus(const abi::SyscallEvent &call) {
  constexpr std::string_view kNames[] = {"returned", "never-returned", "begin-unseen"};
  return kNames[std::min<size_t>(call.status, std::size(kNames) - 1)];
}

// The names of threads, as kernel evidence tells them.
class TaskNames {
public:
  void add(const abi::TaskEvent &task) { names_[task.of_tid] = nameOfTask(task); }
  // Empty = not known.
  std::string of(uint32_t tid) const {
    const auto found = names_.find(tid);
    return found == names_.end() ? "" : found->second;
  }

private:
  std::map<uint32_t, std::string> names_;
};

// The arguments of a call come in an event before it.
class SyscallArguments {
public:
  // Returns whether the event has arguments, so that there is nothing to show yet.
  bool keep(uint32_t stream, const abi::AnyEvent &event) {
    if (event.header().kind != abi::EventKind::SyscallArguments)
      return false;
    const auto given = event.as<abi::SyscallArgumentsEvent>();
    waiting_[stream] = {given.header.time, {given.first, given.second, given.third, given.fourth, given.fifth}};
    return true;
  }
  std::array<uint64_t, 6> of(uint32_t stream, const abi::SyscallEvent &call) {
    std::array<uint64_t, 6> all{};
    if (const auto found = waiting_.extract(stream); !found.empty() && found.mapped().time_ns == call.header.time)
      std::copy(found.mapped().values.begin(), found.mapped().values.end(), all.begin());
    all[5] = call.sixth;
    return all;
  }

private:
  struct Waiting {
    uint64_t time_ns = 0;
    std::array<uint64_t, 5> values{};
  };
  std::map<uint32_t, Waiting> waiting_; // by stream
};

} // namespace msleaks::analysis::inline exporters
