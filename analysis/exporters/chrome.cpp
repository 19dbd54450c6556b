// chrome: events in the Trace Event Format, for https://ui.perfetto.dev, chrome://tracing and other viewers
// (docs/formats.md).
#include "analysis/base/session_time.h"
#include "analysis/base/text.h"
#include "analysis/exporters/registry.h"
#include "analysis/exporters/timeline_exporter.h"
#include "analysis/exporters/trace_names.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <set>

namespace msleaks::analysis::inline exporters {
namespace {

// The format has no tracks outside of processes. So the session is a process with this number, which no process has.
constexpr uint32_t kSession = 0;
constexpr uint32_t kFindings = 1; // a thread of the session
constexpr uint32_t kSteps = 0;    // a thread of each process

class ChromeExporter final : public TimelineExporter {
protected:
  void beginTimeline(ReadRun &) override;
  void addCurve(size_t, const std::string &name) override { curves_.push_back(exporters::quoted(name)); }
  void addPoint(size_t curve, uint64_t time_ns, uint64_t bytes) override {
    add(R"({{"ph":"C","name":{},"pid":{},"tid":0,"ts":{},"args":{{"bytes":{}}}}})", curves_[curve], kSession,
        microseconds(sinceStart(time_ns, start_ns_)), bytes);
  }
  void addLaunch(const Slice &slice) override { addMoment("launch", slice); }
  void addMark(const Slice &slice) override { addMoment("mark", slice); }
  void addStep(const Slice &slice) override {
    if (with_steps_.insert(slice.process).second)
      nameThread(pidOf(slice.process), kSteps, "steps");
    addSlice("step", pidOf(slice.process), kSteps, slice);
  }
  void addKernel(const Slice &slice) override { addSlice("kernel", slice.pid, slice.tid, slice); }
  void addFinding(const Slice &slice) override { addSlice("finding", kSession, kFindings, slice); }
  void endTimeline(ReadRun &) override {
    lines_.append(std::string_view("\n]}\n"));
    flush();
  }

private:
  static constexpr size_t kFlushBytes = 64 << 10;

  // Exact to the nanosecond, since a number of JSON has 53 bits in most readers.
  static std::string microseconds(uint64_t time_ns) { return fmt::format("{}.{:03}", time_ns / 1000, time_ns % 1000); }
  uint32_t pidOf(uint32_t process) const { return names_->pid(process).value_or(0); }

  template <class... Arguments> void add(fmt::format_string<Arguments...> format, Arguments &&...arguments) {
    lines_.append(std::string_view(is_first_ ? "\n" : ",\n"));
    is_first_ = false;
    fmt::format_to(std::back_inserter(lines_), format, std::forward<Arguments>(arguments)...);
    if (lines_.size() >= kFlushBytes)
      flush();
  }
  void flush() {
    out().write(lines_.data(), static_cast<std::streamsize>(lines_.size()));
    lines_.clear();
  }
  static std::string factsOf(const Slice &slice) {
    std::string text;
    for (const SliceFact &fact : slice.facts) {
      const auto *number = std::get_if<uint64_t>(&fact.value);
      text += fmt::format("{}{}:{}", text.empty() ? "" : ",", exporters::quoted(fact.name),
                          number != nullptr ? fmt::to_string(*number)
                                            : exporters::quoted(std::get<std::string>(fact.value)));
    }
    return text;
  }
  void nameProcess(uint32_t pid, std::string_view name) {
    add(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}})", pid, exporters::quoted(name));
  }
  void nameThread(uint32_t pid, uint32_t tid, std::string_view name) {
    add(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})", pid, tid,
        exporters::quoted(name));
  }
  void addMoment(std::string_view category, const Slice &slice) {
    add(R"({{"ph":"i","s":"t","cat":"{}","name":{},"pid":{},"tid":{},"ts":{},"args":{{{}}}}})", category,
        exporters::quoted(slice.name), pidOf(slice.process), names_->tid(slice.process, slice.stream).value_or(0),
        microseconds(sinceStart(slice.begin_ns, start_ns_)), factsOf(slice));
  }
  void addSlice(std::string_view category, uint32_t pid, uint32_t tid, const Slice &slice) {
    add(R"({{"ph":"X","cat":"{}","name":{},"pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})", category,
        exporters::quoted(slice.name), pid, tid, microseconds(sinceStart(slice.begin_ns, start_ns_)),
        microseconds(slice.end_ns - slice.begin_ns), factsOf(slice));
  }

  std::optional<TraceNames> names_;
  uint64_t start_ns_ = 0;
  bool is_first_ = true;
  std::vector<std::string> curves_; // quoted names
  std::set<uint32_t> with_steps_;   // processes
  fmt::memory_buffer lines_;
};

void ChromeExporter::beginTimeline(ReadRun &run) {
  names_.emplace(run.trace, run.catalog.labels());
  start_ns_ = run.report.start_ns;
  fmt::format_to(std::back_inserter(lines_),
                 R"({{"displayTimeUnit":"ns","otherData":{{"peak_bytes":{}}},"traceEvents":[)", run.report.peak.bytes);
  nameProcess(kSession, "memory");
  nameThread(kSession, kFindings, "findings");
  for (const ReportProcess &process : run.report.processes)
    nameProcess(process.pid, process.command.empty() ? "" : printable(baseName(process.command.front())));
}

} // namespace

MSL_REGISTER_EXPORTER(chrome, "memory over time, launches, steps and findings, for viewers of Chrome's traces",
                      ChromeExporter)

} // namespace msleaks::analysis::inline exporters
