// jsonl: one JSON object for each event, on a line of its own. `msleaks dump --json` writes the same
// (docs/trace-format.md).
#include "analysis/base/syscall_names.h"
#include "analysis/exporters/kernel_facts.h"
#include "analysis/exporters/registry.h"
#include "analysis/exporters/trace_names.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline exporters {
namespace {

std::string orNull(std::optional<uint32_t> number) { return number ? fmt::to_string(*number) : "null"; }

class JsonLinesExporter final : public EventExporter {
public:
  void begin(EventExport &run) override { names_.emplace(run.trace, run.catalog.labels()); }
  void onEvent(EventExport &, const StreamEvent &, SiteId) override;
  void end(EventExport &run) override { flush(run.out); }

private:
  static constexpr size_t kFlushBytes = 64 << 10;

  template <class... Arguments> void add(fmt::format_string<Arguments...> format, Arguments &&...arguments) {
    fmt::format_to(std::back_inserter(lines_), format, std::forward<Arguments>(arguments)...);
  }
  const std::string &idOf(SiteId, const SiteCatalog &);
  void addHeader(const StreamEvent &, const std::string &site);
  void addFields(const StreamEvent &);
  void addKernel(const EventExport &, const StreamEvent &);
  void addSyscall(const StreamEvent &);
  void flush(std::ostream &out) {
    out.write(lines_.data(), static_cast<std::streamsize>(lines_.size()));
    lines_.clear();
  }

  std::optional<TraceNames> names_;
  SyscallArguments arguments_;
  std::vector<std::string> ids_; // by SiteId
  fmt::memory_buffer lines_;     // collects lines, because small writes to a stream are slow
};

// Returns the id of the site in a report, in quotes, or null: not known. This id is stable across builds. The number of
// a site in an event is valid in one process only.
const std::string &JsonLinesExporter::idOf(SiteId site, const SiteCatalog &catalog) {
  if (site.index >= ids_.size())
    ids_.resize(std::max<size_t>(catalog.size(), site.index + 1));
  std::string &text = ids_[site.index];
  if (text.empty()) {
    const uint64_t id = catalog.stableIdOf(site);
    text = id != 0 ? fmt::format("\"{:016x}\"", id) : "null";
  }
  return text;
}

void JsonLinesExporter::addHeader(const StreamEvent &entry, const std::string &site) {
  const abi::EventHeader &header = entry.event.header();
  const auto kernel = kernelFactsOf(entry.event);
  add(R"({{"time_ns":{},"pid":{},"tid":{},"process":{},"stream":{},"event":"{}","heap":"{}","device":{},"site":{},"site_number":{},"flags":[)",
      kernel ? kernel->begin_ns : header.time, orNull(kernel ? kernel->pid : names_->pid(entry.process)),
      orNull(kernel ? kernel->tid : names_->tid(entry.process, entry.stream)), entry.process, entry.stream,
      abi::nameOf(header.kind), abi::nameOf(header.heap), header.device, site, header.site);
  const char *separator = "";
  forEachFlag(header, [&](std::string_view flag) { add("{}\"{}\"", std::exchange(separator, ","), flag); });
  lines_.push_back(']');
}

void JsonLinesExporter::addFields(const StreamEvent &entry) {
  abi::dispatch(entry.event, [&](const auto &event) {
    abi::visitFields(event, [&](const char *name, abi::Repr repr, auto value) {
      if (repr == abi::Repr::Label)
        add(",\"{0}\":{1},\"{0}_number\":{2}", name, names_->quotedLabel(entry.process, value), value);
      else if (holdsAnything(name) && !namesThread(name))
        add(",\"{}\":{}", name, value);
    });
  });
}

// Adds the name of the launched kernel.
void JsonLinesExporter::addKernel(const EventExport &run, const StreamEvent &entry) {
  const LabelId name = run.kernels.nameOf(entry.process, entry.event.as<abi::LaunchEvent>().kernel);
  add(",\"name\":{}", name.known() ? quoted(run.catalog.labels().textOf(name)) : "null");
}

void JsonLinesExporter::addSyscall(const StreamEvent &entry) {
  const auto call = entry.event.as<abi::SyscallEvent>();
  add(R"(,"name":{},"number":{},"arguments":[{}],"result":{},"duration_ns":{},"call":{},"status":"{}")",
      exporters::quoted(syscallName(call.number)), call.number, fmt::join(arguments_.of(entry.stream, call), ","),
      static_cast<int64_t>(call.result), call.duration_ns, call.call, nameOfStatus(call));
}

void JsonLinesExporter::onEvent(EventExport &run, const StreamEvent &entry, SiteId site) {
  if (arguments_.keep(entry.stream, entry.event))
    return;
  const bool is_fault = entry.event.header().kind == abi::EventKind::Fault;
  const auto block = is_fault ? run.blocks.of(entry.event.as<abi::FaultEvent>()) : std::nullopt;
  addHeader(entry, idOf(block ? block->site : site, run.catalog));
  if (is_fault)
    add(",\"block\":{}", block ? fmt::to_string(block->address) : "null");
  if (entry.event.header().kind == abi::EventKind::Syscall)
    addSyscall(entry);
  else
    addFields(entry);
  if (entry.event.header().kind == abi::EventKind::Launch)
    addKernel(run, entry);
  if (entry.event.header().kind == abi::EventKind::Task)
    add(",\"name\":{}", exporters::quoted(nameOfTask(entry.event.as<abi::TaskEvent>())));
  lines_.append(std::string_view("}\n"));
  if (lines_.size() >= kFlushBytes)
    flush(run.out);
}

} // namespace

MSL_REGISTER_EXPORTER(jsonl, "every event, as one JSON object a line", JsonLinesExporter)

} // namespace msleaks::analysis::inline exporters
