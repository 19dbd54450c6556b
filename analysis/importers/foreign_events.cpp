#include "analysis/importers/foreign_events.h"

#include "analysis/compare/msmemscope_dump.h"
#include "msleaks/abi/events.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

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

template <class Event>
void ForeignEvents::push(const Process &process, uint32_t stream, const ForeignRow &row, Event event, uint32_t site) {
  event.header.kind = Event::kKind;
  event.header.time = row.time_ns;
  event.header.site = site;
  events_.push_back({process.number, stream, abi::AnyEvent::from(event)});
}

// msMemScope writes a free of a block that was alive at the end as a shadow. Such a block was never freed.
void ForeignEvents::addMemory(Process &process, uint32_t stream, const ForeignRow &row) {
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
    push(process, stream, row, in(event), process.paths.siteOf(row.python_stack, row.c_stack));
    const std::string owner = textIn(row, "owner");
    if (owner.empty())
      return;
    abi::OwnedEvent owned{};
    owned.address = address;
    owned.label = process.paths.labelOf(owner);
    push(process, stream, row, in(owned));
  } else if (row.event == "FREE" && dumpAttribute(row.attributes, "shadow") != "true") {
    abi::FreeEvent event{};
    event.address = address;
    push(process, stream, row, in(event));
  } else if (row.event == "ACCESS" && !isHostDevice(row.device)) {
    abi::AccessEvent event{};
    event.address = address;
    event.size = row.size;
    event.header.flags = row.type == "READ" ? abi::kRead : row.type == "WRITE" ? abi::kWrite : 0;
    event = in(event);
    event.header.heap = abi::Heap::Device;
    push(process, stream, row, event);
  }
}

void ForeignEvents::addOther(Process &process, uint32_t stream, const ForeignRow &row) {
  const bool is_step = (row.event == "SYSTEM" && row.type == "STEP") ||
                       (row.type == "Range_start" && row.name.find("step start") != std::string_view::npos);
  if (is_step) {
    abi::StepEvent event{};
    ++process.steps;
    event.number = dumpAttribute(row.attributes, "step") ? numberIn(row, "step") : process.steps;
    push(process, stream, row, event);
  } else if (row.event == "MSTX" && row.type == "Mark") {
    abi::MarkEvent event{};
    event.label = process.paths.labelOf(row.name);
    push(process, stream, row, event);
  } else if (row.type == "Range_start" || row.type == "ATEN_START" || row.type == "ATB_START") {
    abi::RangeBeginEvent event{};
    event.label = process.paths.labelOf(row.name);
    event.id = numberIn(row, "rangeId");
    push(process, stream, row, event);
  } else if (row.type == "Range_end" || row.type == "ATEN_END" || row.type == "ATB_END") {
    abi::RangeEndEvent event{};
    event.id = numberIn(row, "rangeId");
    push(process, stream, row, event);
  } else if (row.type == "KERNEL_LAUNCH") {
    const auto [kernel, is_new] = process.kernels.try_emplace(std::string(row.name), process.kernels.size() + 1);
    if (is_new) {
      abi::KernelEvent named{};
      named.kernel = kernel->second;
      named.name = process.paths.labelOf(row.name);
      push(process, stream, row, named);
    }
    abi::LaunchEvent event{};
    event.header.heap = abi::Heap::Device;
    event.header.device = deviceOf(row.device);
    event.continuation = abi::kContinuationTag;
    event.kernel = kernel->second;
    event.stream = numberIn(row, "streamId");
    push(process, stream, row, event);
  } else if (row.type == "OOM_TRIGGER") {
    abi::AllocFailedEvent event{};
    event.header.heap = isHostDevice(row.device) ? abi::Heap::Host : abi::Heap::Device;
    event.header.device = isHostDevice(row.device) ? 0 : deviceOf(row.device);
    event.size = numberIn(row, "req_size");
    event.status = numberIn(row, "flag");
    push(process, stream, row, event);
  }
}

void ForeignEvents::add(const ForeignRow &row) {
  Process &process = processes_[row.pid];
  if (process.number == 0) {
    process.number = static_cast<uint32_t>(processes_.size());
    process.pid = row.pid;
  }
  if (row.device == "N/A" && row.id != 0 && !process.rows_without_device.insert(row.id).second)
    return;
  process.first_ns = std::min(process.first_ns, row.time_ns);
  process.last_ns = std::max(process.last_ns, row.time_ns);
  const uint32_t stream =
      process.streams.try_emplace(row.tid, static_cast<uint32_t>(process.streams.size())).first->second;
  const bool is_memory = row.event == "MALLOC" || row.event == "FREE" || row.event == "ACCESS";
  is_memory ? addMemory(process, stream, row) : addOther(process, stream, row);
}

Result<void> ForeignEvents::writeStreams(TraceWriter &writer, const Process &process) const {
  constexpr size_t kMostEvents = 4096;
  struct Stream {
    std::vector<abi::Slot> slots;
    uint64_t position = 0, events = 0;
    size_t waiting = 0;
  };
  std::vector<Stream> streams(process.streams.size());
  const auto flush = [&](uint32_t number) -> Result<void> {
    Stream &stream = streams[number];
    if (stream.slots.empty())
      return {};
    MSL_TRY(writer.events({process.number, number, stream.position, stream.slots}));
    stream.position += stream.slots.size();
    stream.slots.clear();
    stream.waiting = 0;
    return {};
  };
  for (const StreamEvent &event : events_) {
    if (event.process != process.number)
      continue;
    Stream &stream = streams[event.stream];
    const auto slots = std::span(event.event.slots).first(abi::slotsOf(event.event.header().kind));
    stream.slots.insert(stream.slots.end(), slots.begin(), slots.end());
    ++stream.events;
    if (++stream.waiting == kMostEvents)
      MSL_TRY(flush(event.stream));
  }
  for (const auto &[tid, number] : process.streams) {
    MSL_TRY(flush(number));
    MSL_TRY(writer.streamAccount({process.number, number, tid, "", streams[number].events, 0, 0}));
  }
  return {};
}

// The rows of a block may be in a dump only when it is freed. So the events are put in order here.
Result<void> ForeignEvents::write(const RunFolder &folder, const std::string &source) {
  std::ranges::stable_sort(events_, {}, [](const StreamEvent &event) { return event.event.header().time; });
  auto writer = MSL_TRY(TraceWriter::create(folder.trace()));
  Manifest manifest;
  manifest.state = "complete";
  manifest.source = "msmemscope";
  manifest.start_ns = UINT64_MAX;
  manifest.command = {source};
  manifest.notes = {
      fmt::format("imported from a dump of msMemScope: {}. It has no types, no variables and no pointers, so "
                  "it is not known whether a leaked block is lost",
                  source)};
  for (const auto &[pid, process] : processes_) {
    manifest.start_ns = std::min(manifest.start_ns, process.first_ns);
    manifest.end_ns = std::max(manifest.end_ns, process.last_ns + 1);
    MSL_TRY(writer.processStart({process.number, pid, 0, process.first_ns, process.first_ns, {source}}));
    MSL_TRY(process.paths.write(writer, process.number));
    MSL_TRY(writeStreams(writer, process));
    MSL_TRY(writer.processEnd({process.number, process.last_ns + 1, 0, 0}));
  }
  MSL_TRY(writer.close());
  return folder.writeManifest(manifest);
}

} // namespace msleaks::analysis::inline importers
