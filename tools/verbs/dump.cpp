// msleaks dump RUN: prints every event in its own line, in order of time.
#include "analysis/base/event_names.h"
#include "analysis/base/run_folder.h"
#include "analysis/base/syscall_names.h"
#include "analysis/exporters/export_run.h"
#include "analysis/exporters/kernel_facts.h"
#include "analysis/exporters/registry.h"
#include "analysis/exporters/trace_names.h"
#include "analysis/live/launched_kernels.h"
#include "analysis/places/place.h"
#include "analysis/places/site_catalog.h"
#include "analysis/text/site_text.h"
#include "analysis/trace/trace_reader.h"
#include "msleaks/abi/session.h"
#include "verb.h"

#include <array>
#include <cmath>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

namespace msleaks::tools {
namespace {

struct DumpOptions {
  std::string run;
  bool json = false;
  std::optional<std::string> kinds;
  double begin_s = -HUGE_VAL, end_s = HUGE_VAL;
  bool filtered() const { return kinds || begin_s > 0 || end_s != HUGE_VAL; }
};

bool isAddress(abi::Repr repr) { return repr == abi::Repr::Address || repr == abi::Repr::Handle; }

// Collects lines, and writes many of them to stdout with one call.
class StandardOutput {
public:
  ~StandardOutput() { flush(); }
  template <class... Arguments> void add(fmt::format_string<Arguments...> format, Arguments &&...arguments) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Arguments>(arguments)...);
  }
  bool endLine() {
    buffer_.push_back('\n');
    return buffer_.size() < kFlushBytes || flush();
  }

private:
  static constexpr size_t kFlushBytes = 64 << 10;
  bool flush() {
    std::cout.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    buffer_.clear();
    return std::cout.good();
  }
  fmt::memory_buffer buffer_;
};

std::string orUnknown(std::optional<uint32_t> number) { return number ? fmt::to_string(*number) : "?"; }

// Caches the places of sites as text.
class PlaceTexts {
public:
  explicit PlaceTexts(analysis::SiteCatalog &catalog) : catalog_(catalog), places_(catalog) {}
  // Returns the place of an event's site, such as "src/net.cpp:12:7 in net::grow". Returns an empty text if the place
  // is not known.
  const std::string &of(const analysis::StreamEvent &event) {
    const analysis::SiteId site = catalog_.find(event.process, event.event.header().site);
    if (site.index >= texts_.size())
      texts_.resize(std::max<size_t>(catalog_.size(), site.index + 1));
    std::optional<std::string> &text = texts_[site.index];
    if (!text)
      text = site.known() ? textOf(site) : std::string();
    return *text;
  }

private:
  std::string textOf(analysis::SiteId site) {
    const analysis::SiteText place = analysis::textOf(catalog_, places_.of(site));
    const std::string name = place.function.empty() ? "" : " in " + place.function;
    return analysis::quoted(analysis::placeOf(place, SIZE_MAX) + name);
  }
  analysis::SiteCatalog &catalog_;
  analysis::Places places_;
  std::vector<std::optional<std::string>> texts_; // cached texts, by the index of the site
};

// Writes a call as a program's source would, with its result.
bool writeSyscall(StandardOutput &out, const std::array<uint64_t, 6> &arguments, const analysis::StreamEvent &entry) {
  const auto call = entry.event.as<abi::SyscallEvent>();
  out.add(" {}({:#x}) = {} duration_ns={} call={} {}", analysis::syscallName(call.number), fmt::join(arguments, ", "),
          static_cast<int64_t>(call.result), call.duration_ns, call.call, analysis::nameOfStatus(call));
  return out.endLine();
}

bool writeLine(StandardOutput &out, const analysis::TraceNames &names, PlaceTexts &places, const std::string &kernel,
               analysis::SyscallArguments &arguments, const analysis::StreamEvent &entry) {
  const abi::EventHeader &header = entry.event.header();
  const auto of_kernel = analysis::kernelFactsOf(entry.event);
  const auto since_start = static_cast<int64_t>((of_kernel ? of_kernel->begin_ns : header.time) - names.startNs());
  out.add("{:15.9f} {:>7} {:>7} {:<11} {:<7} {:>10}", static_cast<double>(since_start) / 1e9,
          orUnknown(of_kernel ? of_kernel->pid : names.pid(entry.process)),
          orUnknown(of_kernel ? of_kernel->tid : names.tid(entry.process, entry.stream)), abi::nameOf(header.kind),
          abi::nameOf(header.heap), header.site);
  if (header.kind == abi::EventKind::Syscall)
    return writeSyscall(out, arguments.of(entry.stream, entry.event.as<abi::SyscallEvent>()), entry);
  abi::dispatch(entry.event, [&](const auto &event) {
    abi::visitFields(event, [&](const char *name, abi::Repr repr, auto value) {
      if (repr == abi::Repr::Label)
        out.add(" {0}={1} {0}_number={2}", name, names.quotedLabel(entry.process, value), value);
      else if (isAddress(repr))
        out.add(" {}={:#x}", name, value);
      else if (analysis::holdsAnything(name) && !analysis::namesThread(name))
        out.add(" {}={}", name, value);
    });
  });
  if (!kernel.empty())
    out.add(" name={}", kernel);
  analysis::forEachFlag(header, [&](std::string_view flag) { out.add(" {}", flag); });
  if (const std::string &place = places.of(entry); !place.empty())
    out.add(" place={}", place);
  return out.endLine();
}

// Returns the name of the launched kernel or of the thread, in quotes. Returns an empty text if the event has no name,
// or the name is not known.
std::string kernelOf(const analysis::LaunchedKernels &kernels, const analysis::Labels &labels,
                     const analysis::StreamEvent &entry) {
  if (entry.event.header().kind == abi::EventKind::Task)
    return analysis::quoted(analysis::nameOfTask(entry.event.as<abi::TaskEvent>()));
  if (entry.event.header().kind != abi::EventKind::Launch)
    return {};
  const analysis::LabelId name = kernels.nameOf(entry.process, entry.event.as<abi::LaunchEvent>().kernel);
  return name.known() ? analysis::quoted(labels.textOf(name)) : std::string();
}

// Converts seconds since the start of the run to the trace's clock.
uint64_t clockNs(const analysis::TraceNames &names, double seconds) {
  const double ns = static_cast<double>(names.startNs()) + seconds * 1e9;
  if (!(ns > 0))
    return 0;
  return ns < 18e18 ? names.startNs() + static_cast<uint64_t>(std::llround(seconds * 1e9)) : UINT64_MAX;
}

Result<uint64_t> writeEventsTable(const analysis::TraceReader &trace, const analysis::TraceNames &names,
                                  analysis::SiteCatalog &catalog, const analysis::EventChoice &choice) {
  PlaceTexts places(catalog);
  analysis::LaunchedKernels kernels;
  analysis::SyscallArguments arguments;
  StandardOutput lines;
  lines.add("{:>15} {:>7} {:>7} {:<11} {:<7} {:>10} fields and flags", "seconds", "pid", "tid", "event", "heap",
            "site");
  lines.endLine();
  return trace.forEachEvent(
      [&](const analysis::StreamEvent &event) {
        kernels.onEvent(event, catalog.labels());
        return (choice.kinds & analysis::kindBit(event.event.header().kind)) == 0 ||
               arguments.keep(event.stream, event.event) ||
               writeLine(lines, names, places, kernelOf(kernels, catalog.labels(), event), arguments, event);
      },
      choice.begin_ns, choice.end_ns);
}

Result<uint64_t> writeEventsJson(const analysis::TraceReader &trace, const analysis::EventChoice &choice) {
  const auto exporter = MSL_TRY(analysis::formatOf("jsonl")).make();
  return analysis::exportEvents(trace, *std::get<std::unique_ptr<analysis::EventExporter>>(exporter), std::cout,
                                choice);
}

Result<void> loadNames(const analysis::TraceReader &trace, analysis::Symbolizer &symbolizer,
                       analysis::SiteCatalog &catalog) {
  MSL_TRY(trace.forEachNames([&](const analysis::ImageNames &names) { symbolizer.add(names); }));
  return catalog.load(trace);
}

Result<ExitStatus> dump(const DumpOptions &options) {
  auto wanted =
      MSL_TRY(options.kinds ? analysis::kindBits("--kind", *options.kinds) : Result<uint64_t>(analysis::kEveryKind));
  if (wanted & analysis::kindBit(abi::EventKind::Syscall)) // the JSON of a call contains its arguments
    wanted |= analysis::kindBit(abi::EventKind::SyscallArguments);
  const auto folder = MSL_TRY(analysis::RunFolder::open(options.run));
  const auto trace = MSL_TRY(analysis::TraceReader::open(folder.trace()));
  analysis::Symbolizer symbolizer;
  analysis::SiteCatalog catalog(symbolizer);
  if (const Result<void> loaded = loadNames(trace, symbolizer, catalog); !loaded)
    spdlog::warn("labels and places cannot be shown: {}", loaded.error().message);
  for (const std::string &note : catalog.notes())
    spdlog::warn("{}", note);
  const analysis::TraceNames names(trace, catalog.labels());
  const analysis::EventChoice choice{wanted, clockNs(names, options.begin_s), clockNs(names, options.end_s)};
  const uint64_t given =
      MSL_TRY(options.json ? writeEventsJson(trace, choice) : writeEventsTable(trace, names, catalog, choice));
  for (const std::string &damage : trace.damage())
    spdlog::warn("'{}': {}", folder.trace().string(), damage);
  if (given == 0 && !trace.damage().empty() && !options.filtered())
    return fail(fmt::format("'{}': nothing could be read", folder.trace().string()));
  return ExitStatus::Clean;
}

Action declareDump(CommandLine &line) {
  const auto options = std::make_shared<DumpOptions>();
  line.option("RUN", options->run, "names the folder of a run, or its trace file").required();
  line.flag("--json", options->json, "prints a JSON object for each event, one a line (docs/trace-format.md)");
  line.option("--kind", options->kinds,
              fmt::format("prints only these events, separated by commas [all]: {}", analysis::eventNames()))
      .valueName("NAMES");
  line.option("--begin", options->begin_s, "prints only events from this time on, in seconds since the start [0]");
  line.option("--end", options->end_s, "prints only events up to this time, in seconds since the start [the end]");
  return [options] { return dump(*options); };
}

} // namespace

MSL_REGISTER_VERB(dump, "prints every event, in order of time", declareDump)

} // namespace msleaks::tools
