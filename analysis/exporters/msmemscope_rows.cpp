#include "analysis/exporters/msmemscope_rows.h"

#include "analysis/base/tables.h"
#include "analysis/base/text.h"
#include "analysis/live/owners.h"
#include "analysis/places/place.h"
#include "analysis/places/site_text.h"

#include <algorithm>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <iterator>
#include <utility>

namespace msleaks::analysis::inline exporters {
namespace {

constexpr bool isOnHost(abi::Heap heap) {
  return heap == abi::Heap::Host || heap == abi::Heap::Mapping || heap == abi::Heap::Pinned;
}

// Registered memory is a part of other blocks, and imported memory belongs to another process.
constexpr bool isDumped(abi::Heap heap) {
  return isOnHost(heap) || heap == abi::Heap::Device || heap == abi::Heap::Managed || heap == abi::Heap::Pool;
}

constexpr std::string_view typeOf(abi::Heap heap) {
  return isOnHost(heap) ? "HOST" : heap == abi::Heap::Pool ? "PTA" : "HAL";
}

// Writes a JSON object whose values are texts.
class Attributes {
public:
  explicit Attributes(std::string &text) : text_(text) { text_ = "{"; }
  void add(std::string_view key, uint64_t value) { addPlain(key, fmt::format_int(value).c_str()); }
  // The value must need no escapes.
  void addPlain(std::string_view key, std::string_view value) {
    begin(key);
    text_.append("\"").append(value).append("\"");
  }
  void addText(std::string_view key, std::string_view value) {
    begin(key);
    text_ += analysis::quoted(printable(value));
  }
  void addAddress(std::string_view key, uint64_t address) {
    char digits[24];
    const auto end = fmt::format_to(digits, "{:#x}", address);
    addPlain(key, {digits, static_cast<size_t>(end - digits)});
  }
  std::string_view finish() { return text_ += '}'; }

private:
  void begin(std::string_view key) { text_.append(text_.size() == 1 ? "\"" : ",\"").append(key).append("\":"); }

  std::string &text_;
};

// Returns for example "net.py(12): forward", or "/lib/libx.so(grow+0x7123) net.c:7", as msMemScope and
// backtrace_symbols() write a call.
std::string lineOf(const SiteText &call, const FrameText &frame) {
  const std::string function = printable(frame.function);
  if (call.origin == SiteOrigin::Python)
    return fmt::format("{}({}): {}\n", printable(frame.file), frame.line, function);
  const std::string offset = call.offset != 0 ? fmt::format("+{:#x}", call.offset) : "";
  const std::string place = frame.file.empty() ? "" : fmt::format(" {}:{}", printable(frame.file), frame.line);
  return fmt::format("{}({}{}){}\n", printable(call.library), function, offset, place);
}

void addBlock(Attributes &attributes, const Block &block, BlockNumber number, uint64_t bytes) {
  attributes.add("allocation_id", number);
  attributes.addAddress("addr", block.address);
  attributes.add("size", bytes);
}

} // namespace

uint32_t MsmemscopeExporter::eventKinds() const {
  using enum abi::EventKind;
  uint32_t kinds = 0;
  for (const abi::EventKind kind : {Launch, Mark, RangeBegin, RangeEnd, Step, Epoch, AllocFailed})
    kinds |= abi::enabledBit(kind);
  return kinds;
}

// Makes all files, because a row without a device is in each file of its process.
void MsmemscopeExporter::begin(ReadRun &run) {
  names_ = std::make_unique<TraceNames>(run.trace, run.catalog.labels());
  for (const ProcessStart &start : run.trace.processes()) {
    if (start.realtime_ns != 0 && since_1970_ns_ == 0)
      since_1970_ns_ = static_cast<int64_t>(start.realtime_ns - start.time_ns);
    const auto seconds =
        static_cast<std::time_t>((start.time_ns + static_cast<uint64_t>(since_1970_ns_)) / 1'000'000'000);
    std::string folder = fmt::format("msmemscope_{}_{:%Y%m%d%H%M%S}_ascend", start.pid, fmt::gmtime(seconds));
    for (const auto &[number, other] : processes_) // a process that exec() replaced has the same pid
      if (other.folder == folder)
        folder += fmt::format("_{}", start.process);
    Process &process = processes_[start.process];
    process.folder = std::move(folder);
    process.pid = start.pid;
  }
  for (uint32_t cohort = 1; cohort < run.cohorts.size(); ++cohort) {
    const Cohort &of = run.cohorts[{cohort}];
    if (isDumped(of.heap))
      deviceOf(processes_[of.process], numberOf(of.heap, of.device));
  }
}

size_t MsmemscopeExporter::numberOf(abi::Heap heap, uint8_t device) { return isOnHost(heap) ? kHost : device; }

MsmemscopeExporter::Device &MsmemscopeExporter::deviceOf(Process &process, size_t number) {
  std::unique_ptr<Device> &device = process.devices[number];
  if (!device) {
    constexpr size_t kTimeDigits = 14;
    const size_t time = process.folder.find('_', process.folder.find('_') + 1) + 1;
    device = std::make_unique<Device>();
    device->name = number == kHost ? "cpu" : fmt::to_string(number);
    device->file = make(folder(), fmt::format("{}/device_{}/dump/memscope_dump_{}", process.folder, device->name,
                                              process.folder.substr(time, kTimeDigits)));
  }
  return *device;
}

uint32_t MsmemscopeExporter::tidOf(uint32_t process, uint32_t stream) {
  std::optional<uint32_t> &tid = elementAt(processes_[process].tids, stream);
  if (!tid)
    tid = names_->tid(process, stream).value_or(0);
  return *tid;
}

// A free by another thread may be known a moment late. Rows stay in the order of time.
DumpedRow MsmemscopeExporter::rowAt(uint32_t process, uint32_t stream, uint64_t time_ns) {
  last_ns_ = std::max(last_ns_, time_ns);
  Process &of = processes_[process];
  DumpedRow row;
  row.id = ++of.last_id;
  row.time_ns = last_ns_ + static_cast<uint64_t>(since_1970_ns_);
  row.pid = of.pid;
  row.tid = tidOf(process, stream);
  return row;
}

DumpedRow MsmemscopeExporter::rowOf(const Block &block, const Device &device, std::string_view event,
                                    uint64_t time_ns) {
  DumpedRow row = rowAt(block.process, block.stream, time_ns);
  row.event = event;
  row.type = typeOf(block.heap);
  row.device = device.name;
  pointer_.clear();
  fmt::format_to(std::back_inserter(pointer_), "0x{:016x}", block.address);
  row.pointer = pointer_;
  return row;
}

void MsmemscopeExporter::addToAll(Process &process, const DumpedRow &row) {
  if (std::ranges::none_of(process.devices, [](const auto &device) { return device != nullptr; }))
    deviceOf(process, kHost);
  for (const auto &device : process.devices)
    if (device)
      device->file->add(row);
}

const MsmemscopeExporter::Stacks &MsmemscopeExporter::stacksOf(SiteCatalog &catalog, SiteId site) {
  const auto [found, is_new] = stacks_.try_emplace(site.index);
  if (is_new && site.known())
    for (const SiteId call : shownPath(catalog, site).calls) {
      const SiteText text = analysis::textOf(catalog.describe(call));
      std::string &to = text.origin == SiteOrigin::Python ? found->second.python : found->second.c;
      to += lineOf(text, text);
      for (const FrameText &inlined : text.inlined_at)
        to += lineOf(text, inlined);
    }
  return found->second;
}

namespace {

template <class Sums> uint64_t &sumOf(Sums &alive, abi::Heap heap) {
  switch (heap) {
  case abi::Heap::Pinned:
    return alive.pinned;
  case abi::Heap::Pool:
    return alive.pool;
  case abi::Heap::Device:
  case abi::Heap::Managed:
    return alive.device;
  default:
    return alive.host;
  }
}

// msMemScope calls the sum of pageable host memory `total`, and every other sum `used`.
void addSum(Attributes &attributes, abi::Heap heap, uint64_t sum) {
  const bool is_pageable = isOnHost(heap) && heap != abi::Heap::Pinned;
  attributes.add(is_pageable ? "total" : "used", sum);
  if (heap == abi::Heap::Pinned)
    attributes.addPlain("pinned", "true");
}

} // namespace

void MsmemscopeExporter::onAlloc(ReadRun &run, const Block &block, BlockNumber number, AllocCause, uint64_t time_ns) {
  if (!isDumped(block.heap))
    return;
  Device &device = deviceOf(block);
  DumpedRow row = rowOf(block, device, "MALLOC", time_ns);
  uint64_t &sum = sumOf(device.alive, block.heap);
  sum += block.bytes();
  Attributes attributes(attributes_);
  addBlock(attributes, block, number, block.bytes());
  addSum(attributes, block.heap, sum);
  if (const std::string_view owner = ownerOf(run.cohorts[block.cohort], run.catalog); !owner.empty())
    attributes.addText("owner", owner);
  row.attributes = attributes.finish();
  const Stacks &stacks = stacksOf(run.catalog, block.site);
  row.python_stack = stacks.python;
  row.c_stack = stacks.c;
  device.file->add(row);
}

// msMemScope writes a free of a block that was alive at the end, too, and marks it as a shadow.
void MsmemscopeExporter::onFree(ReadRun &, const Block &block, BlockNumber number, FreeCause cause, uint64_t time_ns) {
  if (!isDumped(block.heap))
    return;
  Device &device = deviceOf(block);
  DumpedRow row = rowOf(block, device, "FREE", time_ns);
  uint64_t &sum = sumOf(device.alive, block.heap);
  sum -= std::min(sum, block.bytes());
  Attributes attributes(attributes_);
  addBlock(attributes, block, number, block.bytes());
  isEnd(cause) ? attributes.addPlain("shadow", "true") : addSum(attributes, block.heap, sum);
  row.attributes = attributes.finish();
  device.file->add(row);
}

void MsmemscopeExporter::onUse(ReadRun &run, const Block &block, BlockNumber number, const Use &use) {
  if (!isDumped(block.heap))
    return;
  Device &device = deviceOf(block);
  DumpedRow row = rowOf(block, device, "ACCESS", use.time_ns);
  row.type = use.writes ? "WRITE" : use.reads ? "READ" : "UNKNOWN";
  row.tid = tidOf(use.process, use.stream);
  const LabelId kernel = use.is_launch ? run.kernels.lastOf(use.process, use.stream) : LabelId{};
  if (kernel.known())
    row.name = printable(run.catalog.labels().textOf(kernel));
  Attributes attributes(attributes_);
  addBlock(attributes, block, number, use.bytes != 0 ? use.bytes : block.bytes());
  attributes.addPlain("type", typeOf(block.heap));
  row.attributes = attributes.finish();
  device.file->add(row);
}

// An event of the session is a row of each process.
void MsmemscopeExporter::onEvent(ReadRun &run, const StreamEvent &entry, SiteId site) {
  if (entry.process != kSessionProcess)
    return addEvent(run, entry, site);
  StreamEvent of_process = entry;
  for (const auto &[number, process] : processes_) {
    of_process.process = number;
    addEvent(run, of_process, site);
  }
}

void MsmemscopeExporter::addEvent(ReadRun &run, const StreamEvent &entry, SiteId site) {
  const abi::EventHeader &header = entry.event.header();
  const Labels &labels = run.catalog.labels();
  Process &process = processes_[entry.process];
  Device *device = nullptr;
  DumpedRow row = rowAt(entry.process, entry.stream, header.time);
  Attributes attributes(attributes_);
  const auto begin = [&](std::string_view event, std::string_view type) {
    row.event = event;
    row.type = type;
  };
  const auto setName = [&](LabelId label) {
    if (label.known())
      row.name = printable(labels.textOf(label));
  };
  switch (header.kind) {
  case abi::EventKind::Launch: {
    const auto launch = entry.event.as<abi::LaunchEvent>();
    begin("KERNEL_LAUNCH", "KERNEL_LAUNCH");
    setName(run.kernels.nameOf(entry.process, launch.kernel));
    device = &deviceOf(process, header.device);
    attributes.add("streamId", launch.stream);
    attributes.add("taskId", ++process.last_task);
    break;
  }
  case abi::EventKind::Mark:
    begin("MSTX", "Mark");
    setName(labels.find(entry.process, entry.event.as<abi::MarkEvent>().label));
    break;
  case abi::EventKind::RangeBegin:
    begin("MSTX", "Range_start");
    setName(labels.find(entry.process, entry.event.as<abi::RangeBeginEvent>().label));
    attributes.add("rangeId", entry.event.as<abi::RangeBeginEvent>().id);
    break;
  case abi::EventKind::RangeEnd:
    begin("MSTX", "Range_end");
    attributes.add("rangeId", entry.event.as<abi::RangeEndEvent>().id);
    break;
  case abi::EventKind::Step:
    begin("SYSTEM", "STEP");
    attributes.add("step", entry.event.as<abi::StepEvent>().number);
    break;
  case abi::EventKind::Epoch:
    begin("SYSTEM", entry.event.as<abi::EpochEvent>().enabled != 0 ? "START_TRACE" : "STOP_TRACE");
    break;
  case abi::EventKind::AllocFailed: {
    const auto failed = entry.event.as<abi::AllocFailedEvent>();
    begin("OOM_DETAIL", "OOM_TRIGGER");
    row.name = "OOM_Trigger";
    device = &deviceOf(process, numberOf(header.heap, header.device));
    attributes.addText("func", run.catalog.calleeOf(run.catalog.innermostCallOf(site)));
    attributes.add("req_size", failed.size);
    attributes.add("flag", failed.status);
    break;
  }
  default:
    return;
  }
  row.attributes = attributes.finish();
  if (device) {
    row.device = device->name;
    device->file->add(row);
  } else {
    addToAll(process, row);
  }
}

void MsmemscopeExporter::end(ReadRun &) {
  for (auto &[number, process] : processes_)
    for (const auto &device : process.devices)
      if (device)
        device->file->finish();
}

} // namespace msleaks::analysis::inline exporters
