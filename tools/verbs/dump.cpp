// msleaks dump RUN: every event, one a line, in order of time.
#include "msleaks/abi/session.h"
#include "msleaks/analysis/event_names.h"
#include "msleaks/analysis/labels.h"
#include "msleaks/analysis/run_folder.h"
#include "msleaks/analysis/site_catalog.h"
#include "msleaks/analysis/symbolizer.h"
#include "msleaks/analysis/trace_reader.h"
#include "verb.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

namespace msleaks::tools {
namespace {

struct Options {
  std::string run;
  bool json = false;
  std::optional<std::string> kinds;
  double begin_s = -HUGE_VAL, end_s = HUGE_VAL;
  bool filtered() const { return kinds || begin_s > 0 || end_s != HUGE_VAL; }
};

struct FlagName {
  uint16_t bit;
  std::string_view text;
};
constexpr FlagName kFlagNames[] = {
#define MSL_EVENT_FLAG(name, bit, text, doc) {1u << (bit), text},
#include "msleaks/abi/event_flags.def"
};

// Fields that hold nothing yet (events.def).
bool isMeant(std::string_view field) { return field != "reserved"; }

bool isAddress(abi::Repr repr) { return repr == abi::Repr::Address || repr == abi::Repr::Handle; }

// What numbers of processes, streams and labels mean outside the trace, as far as it says so.
class Names {
public:
  explicit Names(const analysis::TraceReader &trace) {
    if (const Result<void> loaded = labels_.load(trace); !loaded)
      spdlog::warn("no labels: {}", loaded.error().message);
    for (const analysis::ProcessStart &process : trace.processes()) {
      pids_[process.process] = process.pid;
      start_ns_ = std::min(start_ns_, process.time_ns);
    }
    for (const analysis::StreamAccount &stream : trace.streams())
      tids_[{stream.process, stream.stream}] = stream.tid;
  }
  std::optional<uint32_t> pid(uint32_t process) const { return find(pids_, process); }
  std::optional<uint32_t> tid(uint32_t process, uint32_t stream) const { return find(tids_, {process, stream}); }
  // A label as a JSON string, or null.
  std::string label(uint32_t process, uint64_t number) const {
    const auto text = labels_.find(process, number);
    return text ? nlohmann::json(*text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) : "null";
  }
  // When the first process attached; without one, the clock's own zero.
  uint64_t startNs() const { return pids_.empty() ? 0 : start_ns_; }

private:
  template <class Map> static std::optional<uint32_t> find(const Map &map, const typename Map::key_type &key) {
    const auto found = map.find(key);
    return found == map.end() ? std::nullopt : std::optional(found->second);
  }
  std::map<uint32_t, uint32_t> pids_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> tids_;
  analysis::Labels labels_;
  uint64_t start_ns_ = UINT64_MAX;
};

// The ids that the report has for the sites: stable over builds, while an event's number means something in its process
// only.
class Sites {
public:
  explicit Sites(const analysis::TraceReader &trace) : trace_(trace), catalog_(symbolizer_) {}
  // "0123456789abcdef" in quotes, or null: not known, or the caller of a hook.
  const std::string &idOf(uint32_t process, uint32_t number) {
    if (!std::exchange(loaded_, true))
      if (const Result<void> loaded = catalog_.load(trace_); !loaded)
        spdlog::warn("no ids of sites: {}", loaded.error().message);
    std::string &text = ids_[uint64_t{process} << 32 | number];
    if (text.empty()) {
      const uint64_t id = catalog_.describe(catalog_.find(process, number)).id;
      text = id != 0 ? fmt::format("\"{:016x}\"", id) : "null";
    }
    return text;
  }

private:
  const analysis::TraceReader &trace_;
  analysis::Symbolizer symbolizer_;
  analysis::SiteCatalog catalog_;
  bool loaded_ = false;
  std::unordered_map<uint64_t, std::string> ids_;
};

// Collects lines and hands them to stdout in large pieces.
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

std::string orNull(std::optional<uint32_t> number) { return number ? fmt::to_string(*number) : "null"; }
std::string orUnknown(std::optional<uint32_t> number) { return number ? fmt::to_string(*number) : "?"; }

bool writeJson(StandardOutput &out, const Names &names, Sites &sites, const analysis::StreamEvent &entry) {
  const abi::EventHeader &header = entry.event.header();
  out.add(
      R"({{"time_ns":{},"pid":{},"tid":{},"process":{},"stream":{},"event":"{}","heap":"{}","device":{},"site":{},"site_number":{})",
      header.time, orNull(names.pid(entry.process)), orNull(names.tid(entry.process, entry.stream)), entry.process,
      entry.stream, abi::nameOf(header.kind), abi::nameOf(header.heap), header.device,
      sites.idOf(entry.process, header.site), header.site);
  out.add(",\"flags\":[");
  const char *separator = "";
  for (const FlagName &flag : kFlagNames)
    if (header.flags & flag.bit)
      out.add("{}\"{}\"", std::exchange(separator, ","), flag.text);
  out.add("]");
  abi::dispatch(entry.event, [&](const auto &event) {
    abi::visitFields(event, [&](const char *name, abi::Repr repr, auto value) {
      if (repr == abi::Repr::Label)
        out.add(",\"{}\":{}", name, names.label(entry.process, value));
      else if (isMeant(name))
        out.add(",\"{}\":{}", name, value);
    });
  });
  out.add("}}");
  return out.endLine();
}

bool writeLine(StandardOutput &out, const Names &names, Sites &, const analysis::StreamEvent &entry) {
  const abi::EventHeader &header = entry.event.header();
  const auto since_start = static_cast<int64_t>(header.time - names.startNs());
  out.add("{:15.9f} {:>7} {:>7} {:<11} {:<7} {:>10}", static_cast<double>(since_start) / 1e9,
          orUnknown(names.pid(entry.process)), orUnknown(names.tid(entry.process, entry.stream)),
          abi::nameOf(header.kind), abi::nameOf(header.heap), header.site);
  abi::dispatch(entry.event, [&](const auto &event) {
    abi::visitFields(event, [&](const char *name, abi::Repr repr, auto value) {
      if (repr == abi::Repr::Label)
        out.add(" {}={}", name, names.label(entry.process, value));
      else if (isAddress(repr))
        out.add(" {}={:#x}", name, value);
      else if (isMeant(name))
        out.add(" {}={}", name, value);
    });
  });
  for (const FlagName &flag : kFlagNames)
    if (header.flags & flag.bit)
      out.add(" {}", flag.text);
  return out.endLine();
}

// Seconds since the start of the run -> the trace's clock.
uint64_t clockNs(const Names &names, double seconds) {
  const double ns = static_cast<double>(names.startNs()) + seconds * 1e9;
  if (!(ns > 0))
    return 0;
  return ns < 18e18 ? names.startNs() + static_cast<uint64_t>(std::llround(seconds * 1e9)) : UINT64_MAX;
}

Result<ExitStatus> dump(const Options &options) {
  const auto wanted =
      MSL_TRY(options.kinds ? analysis::eventBits("--kind", *options.kinds) : Result<uint32_t>(UINT32_MAX));
  const auto folder = MSL_TRY(analysis::RunFolder::open(options.run));
  const auto trace = MSL_TRY(analysis::TraceReader::open(folder.trace()));
  const Names names(trace);
  Sites sites(trace);
  StandardOutput lines;
  if (!options.json) {
    lines.add("{:>15} {:>7} {:>7} {:<11} {:<7} {:>10} fields and flags", "seconds", "pid", "tid", "event", "heap",
              "site");
    lines.endLine();
  }
  const auto write = options.json ? writeJson : writeLine;
  const Result<uint64_t> given = trace.forEachEvent(
      [&](const analysis::StreamEvent &event) {
        return (wanted & abi::enabledBit(event.event.header().kind)) == 0 || write(lines, names, sites, event);
      },
      clockNs(names, options.begin_s), clockNs(names, options.end_s));
  if (!given)
    return tl::make_unexpected(given.error());
  for (const std::string &damage : trace.damage())
    spdlog::warn("'{}': {}", folder.trace().string(), damage);
  if (*given == 0 && !trace.damage().empty() && !options.filtered())
    return fail(fmt::format("'{}': nothing could be read", folder.trace().string()));
  return ExitStatus::Clean;
}

Action declare(CLI::App &app) {
  const auto options = std::make_shared<Options>();
  app.add_option("RUN", options->run, "folder of a run, or its trace file")->required();
  app.add_flag("--json", options->json, "an object a line, for programs (docs/trace-format.md)");
  app.add_option("--kind", options->kinds, fmt::format("only these, separated by commas: {}", analysis::eventNames()))
      ->type_name("NAMES");
  app.add_option("--begin", options->begin_s, "only from so many seconds after the start on");
  app.add_option("--end", options->end_s, "only until so many seconds after the start");
  return [options] { return dump(*options); };
}

} // namespace

const Verb verbs::dump = {"dump", "write every event, in order of time", declare};

} // namespace msleaks::tools
