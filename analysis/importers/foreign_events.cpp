#include "analysis/importers/foreign_events.h"

#include "analysis/compare/msmemscope_dump.h"
#include "analysis/importers/foreign_run.h"
#include "msleaks/abi/events.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>

namespace msleaks::analysis::inline importers {
namespace {

bool isHostDevice(std::string_view device) { return device == "cpu" || device == "host" || device == "10000"; }

uint8_t deviceOf(std::string_view text) {
  unsigned number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number <= UINT8_MAX ? static_cast<uint8_t>(number) : 0;
}

// Memory of the driver (HAL) on the host is page-locked. Every other type is a pool of a framework.
abi::Heap heapOf(const ForeignRow &row) {
  const bool is_pinned = dumpAttribute(row.attributes, "pinned") == "true" || row.type == "HOST_PINNED";
  if (row.type == "HOST" || row.type == "HOST_PINNED")
    return is_pinned ? abi::Heap::Pinned : abi::Heap::Host;
  if (row.type == "HAL")
    return isHostDevice(row.device) ? abi::Heap::Pinned : abi::Heap::Device;
  return abi::Heap::Pool;
}

uint64_t numberIn(const ForeignRow &row, std::string_view key) {
  uint64_t number = 0;
  if (const auto text = dumpAttribute(row.attributes, key))
    std::from_chars(text->data(), text->data() + text->size(), number);
  return number;
}

// A value in JSON may have escapes.
std::string textIn(const ForeignRow &row, std::string_view key) {
  const auto text = dumpAttribute(row.attributes, key);
  if (!text || text->find('\\') == std::string_view::npos)
    return std::string(text.value_or(""));
  const auto json = nlohmann::json::parse("\"" + std::string(*text) + "\"", nullptr, false);
  return json.is_string() ? json.get<std::string>() : std::string(*text);
}

} // namespace

template <class Event> void ForeignEvents::push(const ForeignRow &row, Event event, uint32_t site) {
  event.header.kind = Event::kKind;
  event.header.time = row.time_ns;
  event.header.site = site;
  events_.push_back({row.pid, row.tid, abi::AnyEvent::from(event)});
}

// msMemScope writes a free of a block that was alive at the end as a shadow. Such a block was never freed.
void ForeignEvents::addMemory(Process &process, const ForeignRow &row) {
  const abi::Heap heap = heapOf(row);
  const auto in = [&](auto event) {
    event.header.heap = heap;
    event.header.device = isHostDevice(row.device) ? 0 : deviceOf(row.device);
    return event;
  };
  const uint64_t address = row.address != 0 ? row.address : numberIn(row, "addr");
  if (row.event == "MALLOC") {
    abi::AllocEvent event{};
    event.address = address;
    event.size = row.size;
    push(row, in(event), process.paths.siteOf(row.python_stack, row.c_stack));
    const std::string owner = textIn(row, "owner");
    if (owner.empty())
      return;
    abi::OwnedEvent owned{};
    owned.address = address;
    owned.label = process.paths.labelOf(owner);
    push(row, in(owned));
  } else if (row.event == "FREE" && dumpAttribute(row.attributes, "shadow") != "true") {
    abi::FreeEvent event{};
    event.address = address;
    push(row, in(event));
  } else if (row.event == "ACCESS" && !isHostDevice(row.device)) {
    abi::AccessEvent event{};
    event.address = address;
    event.size = row.size;
    event.header.flags = row.type == "READ" ? abi::kRead : row.type == "WRITE" ? abi::kWrite : 0;
    event = in(event);
    event.header.heap = abi::Heap::Device;
    push(row, event);
  }
}

void ForeignEvents::addOther(Process &process, const ForeignRow &row) {
  const bool is_step = (row.event == "SYSTEM" && row.type == "STEP") ||
                       (row.type == "Range_start" && row.name.find("step start") != std::string_view::npos);
  if (is_step) {
    abi::StepEvent event{};
    ++process.steps;
    event.number = dumpAttribute(row.attributes, "step") ? numberIn(row, "step") : process.steps;
    push(row, event);
  } else if (row.event == "MSTX" && row.type == "Mark") {
    abi::MarkEvent event{};
    event.label = process.paths.labelOf(row.name);
    push(row, event);
  } else if (row.type == "Range_start" || row.type == "ATEN_START" || row.type == "ATB_START") {
    abi::RangeBeginEvent event{};
    event.label = process.paths.labelOf(row.name);
    event.id = numberIn(row, "rangeId");
    push(row, event);
  } else if (row.type == "Range_end" || row.type == "ATEN_END" || row.type == "ATB_END") {
    abi::RangeEndEvent event{};
    event.id = numberIn(row, "rangeId");
    push(row, event);
  } else if (row.type == "KERNEL_LAUNCH") {
    const auto [kernel, is_new] = process.kernels.try_emplace(std::string(row.name), process.kernels.size() + 1);
    if (is_new) {
      abi::KernelEvent named{};
      named.kernel = kernel->second;
      named.name = process.paths.labelOf(row.name);
      push(row, named);
    }
    abi::LaunchEvent event{};
    event.header.heap = abi::Heap::Device;
    event.header.device = deviceOf(row.device);
    event.continuation = abi::kContinuationTag;
    event.kernel = kernel->second;
    event.stream = numberIn(row, "streamId");
    push(row, event);
  } else if (row.type == "OOM_TRIGGER") {
    abi::AllocFailedEvent event{};
    event.header.heap = isHostDevice(row.device) ? abi::Heap::Host : abi::Heap::Device;
    event.header.device = isHostDevice(row.device) ? 0 : deviceOf(row.device);
    event.size = numberIn(row, "req_size");
    event.status = numberIn(row, "flag");
    push(row, event);
  }
}

void ForeignEvents::add(const ForeignRow &row) {
  const auto [found, is_new] = processes_.try_emplace(row.pid, static_cast<uint32_t>(processes_.size() + 1));
  if (is_new)
    pids_.push_back(row.pid);
  Process &process = found->second;
  if (row.device == "N/A" && row.id != 0 && !process.rows_without_device.insert(row.id).second)
    return;
  const bool is_memory = row.event == "MALLOC" || row.event == "FREE" || row.event == "ACCESS";
  is_memory ? addMemory(process, row) : addOther(process, row);
}

// The rows of a block may be in a dump only when it is freed. So the events are put in order here.
Result<void> ForeignEvents::write(const RunFolder &folder, const std::string &source) {
  std::ranges::stable_sort(events_, {}, [](const Row &row) { return row.event.header().time; });
  ForeignRun run = MSL_TRY(ForeignRun::create(folder, source));
  run.facts.source = "msmemscope";
  run.facts.kind = "a dump of msMemScope";
  run.facts.loss = "It has no types, no variables and no pointers, so it is not known whether a leaked block is lost";
  for (const uint32_t pid : pids_)
    run.process(pid).paths = std::move(processes_.at(pid).paths);
  for (const Row &row : events_)
    run.add(run.process(row.pid), row.tid, row.event);
  return run.finish();
}

} // namespace msleaks::analysis::inline importers
