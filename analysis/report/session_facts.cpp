#include "analysis/report/session_facts.h"

#include "analysis/base/session_time.h"
#include "analysis/base/text.h"
#include "analysis/places/driver_functions.h"
#include "analysis/places/place.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>

namespace msleaks::analysis::inline report {

EventAccount accountOf(const TraceReader &reader, uint64_t stored) {
  EventAccount account;
  account.stored = stored;
  uint64_t accounted = 0;
  reader.forEachAccount([&](const StreamAccount &stream) {
    // During a session, and after a kill, the last account of a stream may be older than its last events. So adds up
    // for each stream: too many events in one stream must not hide a loss in another one.
    const uint64_t present = reader.storedEvents(stream.process, stream.stream);
    account.produced += std::max(stream.produced, present + stream.dropped);
    account.dropped += stream.dropped;
    account.stalled_ns += stream.stalled_ns;
    accounted += present;
  });
  account.produced += reader.eventCount() - std::min(accounted, reader.eventCount()); // streams without an account
  for (const ProcessEnd &end : reader.processEnds()) {
    account.produced += end.dropped_no_ring;
    account.dropped += end.dropped_no_ring;
  }
  account.produced = std::max(account.produced, account.stored + account.dropped);
  account.missing = account.produced - account.stored - account.dropped;
  return account;
}

namespace {

// Ignores samples that cannot be read: damage() lists them.
void addSharing(std::vector<ReportProcess> &list, const TraceReader &reader) {
  const auto add = [&](const SharingSample &sample) {
    const auto process = std::ranges::find(list, sample.process, &ReportProcess::process);
    if (process == list.end() || process->pss_bytes.value_or(0) > sample.pss_bytes)
      return;
    process->pss_bytes = sample.pss_bytes;
    process->private_bytes = sample.private_bytes;
    process->shared_bytes = sample.shared_bytes;
  };
  (void)reader.forEachSharing([&](std::span<const SharingSample> samples) { std::ranges::for_each(samples, add); });
}

} // namespace

std::vector<ReportProcess> processesOf(const TraceReader &reader, const std::map<uint32_t, ProcessFate> &fates,
                                       const Manifest &manifest) {
  std::vector<ReportProcess> list;
  for (const ProcessStart &start : reader.processes()) {
    ReportProcess process{start.process, start.pid, start.command, {}, FreeCause::StillAlive};
    if (const auto fate = fates.find(start.process); fate != fates.end()) {
      process.fate = fate->second.cause;
      if (fate->second.exit_status >= 0)
        process.exit = fate->second.exit_status;
    }
    list.push_back(std::move(process));
  }
  for (const RunProcess &known : manifest.processes) {
    const std::optional<int> exit = known.exit_status >= 0 ? std::optional(known.exit_status) : std::nullopt;
    if (known.process == 0) { // nothing was recorded of it
      list.push_back({0, known.pid, known.command, exit, FreeCause::ProcessExited});
      continue;
    }
    const auto same = std::find_if(list.begin(), list.end(),
                                   [&](const ReportProcess &process) { return process.process == known.process; });
    if (same == list.end())
      continue;
    if (!same->exit && same->fate != FreeCause::ProcessExec)
      same->exit = exit;
    same->name = known.name;
    same->rank = known.rank;
  }
  addSharing(list, reader);
  return list;
}

std::vector<std::string> notesOf(const Report &report) {
  std::vector<std::string> notes;
  const auto add = [&](uint64_t count, const char *text) {
    if (count != 0)
      notes.push_back(fmt::format("{} {}", count, text));
  };
  uint64_t killed = 0, going_on = 0, unknown = 0;
  for (const ReportProcess &process : report.processes) {
    killed += process.fate == FreeCause::ProcessKilled;
    going_on += process.fate == FreeCause::StillAlive;
    unknown += process.fate == FreeCause::ProcessExited && !process.exit && process.process != 0;
  }
  if (!report.closed)
    notes.push_back(
        fmt::format("the session was killed or still runs: `msleaks recover {}` adds what is left", report.run));
  add(report.unseenProcesses(),
      "process(es) recorded nothing: static or set-uid programs, or there was no room (notes below)");
  add(killed, "process(es) killed by a signal: their blocks count as alive at the end, not as leaks");
  add(unknown,
      "process(es) ended in an unknown way: their blocks count as leaks, but are none if a signal killed them");
  add(going_on, "process(es) still running when the session ended, or without an end: their blocks count as alive at "
                "the end, not as leaks");
  add(report.unsure.sum.count + report.unsure.pool_sum.count,
      "block(s) may have been freed while recording was stopped: they are unsure, and do not count as leaks");
  add(report.counts.frees_before_start,
      "free(s) of unknown blocks, which were allocated before recording started, or while it was stopped");
  add(report.counts.late_frees,
      "free(s) arrived a moment after the reuse of their address, as clocks of processors differ");
  add(report.counts.early_frees,
      "free(s) arrived a moment before their allocation by another thread, as clocks of processors differ");
  add(report.counts.implicit_frees - report.counts.late_frees,
      "block(s) were allocated at the address of a live one, whose free was not seen");
  add(report.counts.unknown_heaps, "event(s) about a kind of memory that this version does not know");
  return notes;
}

void describeSession(Report &report, const Manifest &manifest, const TraceReader &reader) {
  report.state = manifest.state;
  report.closed = reader.closed() && manifest.state != "running";
  report.source = manifest.source;
  report.command = manifest.command;
  report.collector_cpu_ns = manifest.collector_cpu_ns;
  report.start_ns = manifest.start_ns;
  uint64_t first = UINT64_MAX, last = 0;
  for (const ProcessStart &start : reader.processes())
    first = std::min(first, start.time_ns);
  for (const ProcessEnd &end : reader.processEnds())
    last = std::max(last, end.time_ns);
  if (report.start_ns == 0 && first != UINT64_MAX)
    report.start_ns = first;
  const uint64_t end_ns = manifest.end_ns != 0 ? manifest.end_ns : last;
  report.duration_ns = sinceStart(end_ns, report.start_ns);
}

uint64_t startOf(const RunFolder &folder, const TraceReader &trace) {
  Report facts;
  describeSession(facts, folder.readManifest().value_or(Manifest{}), trace);
  return facts.start_ns;
}

namespace {

// The first hexadecimal digits of a build id: enough to tell two builds apart.
std::string shortId(std::span<const std::byte> build_id) {
  constexpr size_t kShownBytes = 4;
  std::string text;
  for (const std::byte byte : build_id.first(std::min(build_id.size(), kShownBytes)))
    text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return text;
}

// The options without the name of the run folder, because this name differs in each run.
std::string optionsText(const std::vector<std::string> &options) {
  std::string text;
  for (size_t i = 0; i < options.size(); ++i) {
    if (options[i] == "-o" || options[i] == "--output")
      ++i;
    else if (!options[i].starts_with("--output="))
      text += (text.empty() ? "" : " ") + options[i];
  }
  return text;
}

} // namespace

std::vector<NamedText> environmentOf(const Manifest &manifest, const SiteCatalog &catalog) {
  std::map<std::string, std::string> facts;
  facts["host"] = manifest.host;
  facts["msleaks"] = manifest.msleaks_version;
  facts["options of msleaks-run"] = optionsText(manifest.options);
  for (const ImageFile &image : catalog.images()) {
    if (image.path.find(".so") == std::string::npos || isOurLibrary(image.path))
      continue;
    std::string &text = facts[fmt::format("library {}", libraryName(image.path))];
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", baseName(image.path), shortId(image.build_id));
  }
  std::vector<NamedText> list;
  for (auto &[name, text] : facts)
    if (!text.empty())
      list.push_back({name, std::move(text)});
  return list;
}

// A newer driver may have functions without a hook. Its version says nothing about which ones.
std::vector<std::string> driverNotesOf(const SiteCatalog &catalog) {
  constexpr size_t kShown = 8;
  std::vector<std::string> notes;
  for (const ImageFile &image : catalog.images())
    if (const std::vector<std::string> unknown = unknownFunctionsOf(image); !unknown.empty()) {
      const std::span shown(unknown.data(), std::min(kShown, unknown.size()));
      notes.push_back(fmt::format("{} has functions that msleaks does not know: {}{}. If the program calls them, the "
                                  "report lacks what they do",
                                  baseName(image.path), fmt::join(shown, ", "),
                                  unknown.size() > kShown ? fmt::format(" and {} more", unknown.size() - kShown) : ""));
    }
  return notes;
}

namespace {

// Reads the names of all threads with cohorts of their own at once, because a table has a row for each of them.
class ThreadNames {
public:
  explicit ThreadNames(EachAccount accounts) : accounts_(std::move(accounts)) {}

  std::string of(uint32_t process, uint32_t stream) {
    if (stream == kOtherThreads)
      return "other threads";
    if (stream >= kThreadsApart)
      return lookUp(process, stream);
    if (!were_read_)
      read();
    const auto known = names_.find({process, stream});
    return known == names_.end() ? std::string() : known->second;
  }

private:
  static std::string nameOf(const StreamAccount &account) {
    return fmt::format("thread {} ({})", account.tid, account.thread_name);
  }
  void read() {
    were_read_ = true;
    accounts_([&](const StreamAccount &account) {
      if (account.stream < kThreadsApart)
        names_.try_emplace({account.process, account.stream}, nameOf(account));
    });
  }
  std::string lookUp(uint32_t process, uint32_t stream) const {
    std::string name;
    accounts_([&](const StreamAccount &account) {
      if (account.process == process && account.stream == stream)
        name = nameOf(account);
    });
    return name;
  }

  EachAccount accounts_;
  bool were_read_ = false;
  std::map<std::pair<uint32_t, uint32_t>, std::string> names_; // by process and stream
};

} // namespace

// Returns the program's name, unless the process has given itself another name. The kernel cuts names.
static std::string shownName(const ReportProcess &process) {
  const std::string program(process.command.empty() ? "" : baseName(process.command.front()));
  return process.name.empty() || program.starts_with(process.name) ? program : printable(process.name);
}

// "pid 4711 (train)", "rank 3, pid 4711 (train)", "thread 4712 (worker) of pid 4711 (train)", "other threads of pid
// 4711 (train)".
Names namesOf(EachAccount accounts, std::span<const ReportProcess> processes) {
  std::unordered_map<uint32_t, std::string> names;
  for (const ReportProcess &known : processes)
    names.try_emplace(known.process,
                      fmt::format("{}pid {} ({})", known.rank ? fmt::format("rank {}, ", *known.rank) : "", known.pid,
                                  shownName(known)));
  const auto process = [names = std::move(names)](uint32_t number) {
    const auto known = names.find(number);
    return known == names.end() ? std::string() : known->second;
  };
  const auto thread = [threads = std::make_shared<ThreadNames>(std::move(accounts)), process](uint32_t number,
                                                                                              uint32_t stream) {
    const std::string name = threads->of(number, stream);
    return name.empty() ? name : fmt::format("{} of {}", name, process(number));
  };
  return {process, thread};
}

} // namespace msleaks::analysis::inline report
