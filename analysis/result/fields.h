// The fields of a result, each declared once (docs/report.md). The JSON of a report, its reader, and sums and
// differences of reports are expanded from these tables.
//
// Fields<T>::each(visit) calls the visitor for each field of T, in the order of the JSON:
//
//  visit(KEY, member, form, fold)   a field; `form`: how JSON shows it, `fold`: how two values are combined
//   visit.part(member)               the fields of a member, in the same JSON object
//   visit.object(KEY, each)          some fields of the same T, in a JSON object of their own
//   visit.onlyIf(KEY, member, isIt)  a field that is written only if isIt(object) is true
//   visit.derived(KEY, function)     a value that is computed from other fields: written, but not read
//   visit.afterRead(function)        sets members that have no field of their own
#pragma once

#include "analysis/base/session_time.h"
#include "analysis/result/report.h"

#include <algorithm>
#include <map>
#include <utility>

namespace msleaks::analysis::inline result {

// How JSON shows a field.
struct Plain {};          // depends on the type
struct OrNull {};         // null for an empty text, 0, or an enum's value without a name
struct UnlessEmpty {};    // no key for an empty text or list, 0 or false
struct Hex {};            // 16 hexadecimal digits; null for 0
struct HexUnlessEmpty {}; // the same; no key for 0
struct Frames {};         // calls of a path: a frame for each call, and for each function where it was inlined
struct Digest {};         // "xxh3_64:HEX"; null for 0
struct WatchFile {};      // "watch/NUMBER.safetensors"; null for 0
template <class Table> struct ItemsOf {}; // a list; its items have the fields of this table

template <class T> struct Fields;
template <class T>
concept HasFieldTable = requires { sizeof(Fields<T>); };

constexpr const char *nameOf(SiteOrigin origin) {
  constexpr const char *kNames[] = {"", "pass", "hook", "python"};
  return static_cast<size_t>(origin) < std::size(kNames) ? kNames[static_cast<size_t>(origin)] : "";
}
constexpr const char *nameOf(Fold fold) {
  constexpr const char *kNames[] = {"key", "sum", "largest", "first"};
  return static_cast<size_t>(fold) < std::size(kNames) ? kNames[static_cast<size_t>(fold)] : "";
}
constexpr const char *nameOf(Concern concern) {
  constexpr const char *kNames[] = {"content", "refusal", "memory", "time", "handles"};
  return static_cast<size_t>(concern) < std::size(kNames) ? kNames[static_cast<size_t>(concern)] : "";
}
// A report's word for how a process ended.
constexpr const char *nameOf(FreeCause fate) {
  switch (fate) {
  case FreeCause::ProcessExited:
    return "exited";
  case FreeCause::ProcessKilled:
    return "killed";
  case FreeCause::ProcessExec:
    return "replaced";
  case FreeCause::StillAlive:
    return "running";
  default:
    return "";
  }
}

template <> struct Fields<FrameText> {
  static void each(auto &&visit) {
    visit("function", &FrameText::function, OrNull{}, Fold::Key);
    visit("file", &FrameText::file, OrNull{}, Fold::Key);
    visit("line", &FrameText::line, OrNull{}, Fold::Key);
    visit("column", &FrameText::column, OrNull{}, Fold::Key);
  }
};

constexpr bool isOfHook(const SiteText &site) { return site.origin == SiteOrigin::Hook; }

template <> struct Fields<SiteText> {
  static void each(auto &&visit) {
    visit("id", &SiteText::id, Hex{});
    visit("file", &SiteText::file, OrNull{}, Fold::Key);
    visit("line", &SiteText::line, OrNull{}, Fold::Key);
    visit("column", &SiteText::column, OrNull{}, Fold::Key);
    visit("function", &SiteText::function, OrNull{}, Fold::Key);
    visit("callee", &SiteText::callee, OrNull{}, Fold::Key);
    visit("type", &SiteText::type, OrNull{}, Fold::Key);
    visit("variable", &SiteText::variable, OrNull{}, Fold::Key);
    visit("inlined_at", &SiteText::inlined_at);
    visit("origin", &SiteText::origin, OrNull{});
    visit("library", &SiteText::library, UnlessEmpty{}, Fold::Key);
    visit.onlyIf("offset", &SiteText::offset, isOfHook);
  }
};

// The fields that all frames of a call have in common.
struct ImageFields {
  static void each(auto &&visit) {
    visit("library", &SiteText::library, OrNull{});
    visit("offset", &SiteText::offset, OrNull{});
    visit("origin", &SiteText::origin, OrNull{});
  }
};

// A call of a path. The call's further frames have only the fields of FrameText and of ImageFields, and `inlined`.
struct CallFields {
  static void each(auto &&visit) {
    visit("function", &SiteText::function, OrNull{});
    visit("file", &SiteText::file, OrNull{});
    visit("line", &SiteText::line, OrNull{});
    visit("column", &SiteText::column, OrNull{});
    ImageFields::each(visit);
    visit("id", &SiteText::id, HexUnlessEmpty{});
    visit("callee", &SiteText::callee, UnlessEmpty{});
    visit("type", &SiteText::type, UnlessEmpty{});
    visit("variable", &SiteText::variable, UnlessEmpty{});
  }
};

template <> struct Fields<AllocatorText> {
  static void each(auto &&visit) {
    visit("callee", &AllocatorText::callee, OrNull{}, Fold::Key);
    visit("type", &AllocatorText::type, OrNull{}, Fold::Key);
    visit("variable", &AllocatorText::variable, OrNull{}, Fold::Key);
  }
};

template <> struct Fields<BlockSum> {
  static void each(auto &&visit) {
    visit("bytes", &BlockSum::bytes, Plain{}, Fold::Sum);
    visit("count", &BlockSum::count, Plain{}, Fold::Sum);
  }
};

template <> struct Fields<PathLine> {
  static void each(auto &&visit) {
    visit("bytes", &PathLine::bytes, Plain{}, Fold::Sum);
    visit("count", &PathLine::count, Plain{}, Fold::Sum);
    visit("complete", &PathLine::complete);
    visit("frames", &PathLine::calls, Frames{}, Fold::Key);
    visit("id", &PathLine::id, Hex{});
  }
};

// The fields of each line of a list, besides the bytes and the count.
struct LineFields {
  static void each(auto &&visit) {
    visit("allocator", &SiteLine::allocator);
    visit("paths", &SiteLine::paths);
    visit("more_paths", &SiteLine::more_paths, Plain{}, Fold::Sum);
    visit("child", &SiteLine::child, OrNull{}, Fold::Key);
    visit("own", &SiteLine::own);
  }
};

// A line of a list without paths: another list contains the paths of its places.
struct ShortLine {
  static void each(auto &&visit) {
    visit("site", &SiteLine::site, Plain{}, Fold::Key);
    visit("bytes", &SiteLine::bytes, Plain{}, Fold::Sum);
    visit("count", &SiteLine::count, Plain{}, Fold::Sum);
    visit("child", &SiteLine::child, UnlessEmpty{}, Fold::Key);
    visit("own", &SiteLine::own, UnlessEmpty{});
  }
};

template <> struct Fields<SiteLine> {
  static void each(auto &&visit) {
    visit("site", &SiteLine::site, Plain{}, Fold::Key);
    visit("bytes", &SiteLine::bytes, Plain{}, Fold::Sum);
    visit("count", &SiteLine::count, Plain{}, Fold::Sum);
    LineFields::each(visit);
  }
};

struct ByType {
  static void each(auto &&visit) {
    visit("type", &NamedLine::name, OrNull{}, Fold::Key);
    visit("bytes", &NamedLine::bytes, Plain{}, Fold::Sum);
    visit("count", &NamedLine::count, Plain{}, Fold::Sum);
  }
};

struct ByOwner {
  static void each(auto &&visit) {
    visit("owner", &NamedLine::name, OrNull{}, Fold::Key);
    visit("bytes", &NamedLine::bytes, Plain{}, Fold::Sum);
    visit("count", &NamedLine::count, Plain{}, Fold::Sum);
  }
};

template <> struct Fields<Remains> {
  static void each(auto &&visit) {
    visit("bytes", &Remains::bytes, Plain{}, Fold::Sum);
    visit("count", &Remains::count, Plain{}, Fold::Sum);
    visit("heap", &Remains::heap, Plain{}, Fold::Key);
    visit("largest_bytes", &Remains::largest_bytes, Plain{}, Fold::Largest);
    visit("oldest_age_ns", &Remains::oldest_age_ns, Plain{}, Fold::Largest);
    visit("newest_age_ns", &Remains::newest_age_ns);
  }
};

template <> struct Fields<LeakLine> {
  static void each(auto &&visit) {
    visit("site", &SiteLine::site, Plain{}, Fold::Key);
    visit.part(&LeakLine::remains);
    visit("reason", &LeakLine::reason, UnlessEmpty{});
    LineFields::each(visit);
    visit.afterRead([](LeakLine &line) {
      line.bytes = line.remains.bytes;
      line.count = line.remains.count;
    });
  }
};

template <> struct Fields<HandleLine> {
  static void each(auto &&visit) {
    visit("kind", &HandleLine::kind, Plain{}, Fold::Key);
    visit("count", &SiteLine::count, Plain{}, Fold::Sum);
    visit("site", &SiteLine::site, Plain{}, Fold::Key);
    LineFields::each(visit);
  }
};

template <> struct Fields<DevicePeak> {
  static void each(auto &&visit) {
    visit("device", &DevicePeak::device, Plain{}, Fold::Key);
    visit("bytes", &DevicePeak::bytes, Plain{}, Fold::Sum);
    visit("time_ns", &DevicePeak::time_ns);
    visit.derived("since_start_ns", [](const DevicePeak &peak, const Report &report) {
      return sinceStart(peak.time_ns, report.start_ns);
    });
  }
};

template <> struct Fields<HeapPeak> {
  static void each(auto &&visit) {
    visit("heap", &HeapPeak::heap, Plain{}, Fold::Key);
    visit("bytes", &HeapPeak::bytes, Plain{}, Fold::Sum);
    visit("time_ns", &HeapPeak::time_ns);
    visit.derived("since_start_ns",
                  [](const HeapPeak &peak, const Report &report) { return sinceStart(peak.time_ns, report.start_ns); });
    visit("by_site", &HeapPeak::by_site, ItemsOf<ShortLine>{});
    visit("by_device", &HeapPeak::by_device);
  }
};

template <> struct Fields<ProcessPeak> {
  static void each(auto &&visit) {
    visit.derived("pid", [](const ProcessPeak &peak, const Report &report) {
      const auto of = std::find_if(report.processes.begin(), report.processes.end(),
                                   [&](const ReportProcess &process) { return process.process == peak.process; });
      return of == report.processes.end() ? std::optional<uint32_t>() : of->pid;
    });
    visit("bytes", &ProcessPeak::bytes);
    visit("time_ns", &ProcessPeak::time_ns);
    visit.derived("since_start_ns", [](const ProcessPeak &peak, const Report &report) {
      return sinceStart(peak.time_ns, report.start_ns);
    });
    visit("resident_bytes", &ProcessPeak::resident_bytes);
    visit("highest_resident_bytes", &ProcessPeak::highest_resident_bytes);
    visit("process", &ProcessPeak::process, Plain{}, Fold::Key);
  }
};

template <> struct Fields<PeakReport> {
  static void each(auto &&visit) {
    visit("bytes", &PeakReport::bytes, Plain{}, Fold::Sum);
    visit("time_ns", &PeakReport::time_ns);
    visit.derived("since_start_ns", [](const PeakReport &peak, const Report &report) {
      return sinceStart(peak.time_ns, report.start_ns);
    });
    visit("resident_bytes", &PeakReport::resident_bytes, Plain{}, Fold::Sum);
    visit("by_site", &PeakReport::by_site);
    visit("by_type", &PeakReport::by_type, ItemsOf<ByType>{});
    visit("by_owner", &PeakReport::by_owner, ItemsOf<ByOwner>{});
    visit("by_heap", &PeakReport::by_heap);
    visit("by_process", &PeakReport::by_process);
  }
};

// Bytes and blocks of a heap, summed over both lists of places.
struct HeapSum {
  abi::Heap heap = abi::Heap::Host;
  BlockSum sum;
};
template <> struct Fields<HeapSum> {
  static void each(auto &&visit) {
    visit("heap", &HeapSum::heap);
    visit.part(&HeapSum::sum);
  }
};
inline std::vector<HeapSum> sumsByHeap(const RemainsReport &remains) {
  std::map<abi::Heap, BlockSum> sums;
  for (const auto *lines : {&remains.by_site, &remains.pool_by_site})
    for (const LeakLine &line : *lines)
      sums[line.remains.heap] += {line.remains.bytes, line.remains.count};
  std::vector<HeapSum> list;
  for (const auto &[heap, sum] : sums)
    list.push_back({heap, sum});
  return list;
}

template <> struct Fields<RemainsReport> {
  static void each(auto &&visit) {
    visit.part(&RemainsReport::sum);
    visit("by_site", &RemainsReport::by_site);
    visit.derived("by_heap", [](const RemainsReport &remains, const Report &) { return sumsByHeap(remains); });
    visit.object("pool", [](auto &&pool) {
      pool.part(&RemainsReport::pool_sum);
      pool("by_site", &RemainsReport::pool_by_site);
    });
  }
};

template <> struct Fields<FoundLeaks> {
  static void each(auto &&visit) {
    visit.part(&FoundLeaks::sum);
    visit("places", &FoundLeaks::places, Plain{}, Fold::Sum);
    visit.object("pool", [](auto &&pool) { pool.part(&FoundLeaks::pool_sum); });
  }
};

template <> struct Fields<Floor> {
  static void each(auto &&visit) {
    visit("bytes", &Floor::bytes, Plain{}, Fold::Sum);
    visit("heaps", &Floor::heaps);
    visit("largest_launch_bytes", &Floor::largest_launch_bytes, Plain{}, Fold::Largest);
    visit("largest_launch", &Floor::largest_launch);
  }
};

template <> struct Fields<LedgerLine> {
  static void each(auto &&visit) {
    visit("device", &LedgerLine::device, Plain{}, Fold::Key);
    visit("source", &LedgerLine::source, Plain{}, Fold::Key);
    visit("bytes", &LedgerLine::bytes, Plain{}, Fold::Sum);
    visit("at_peak_bytes", &LedgerLine::at_peak_bytes, Plain{}, Fold::Sum);
  }
};

template <> struct Fields<ReopenedFiles> {
  static void each(auto &&visit) {
    visit("allocated_at", &ReopenedFiles::allocated_at, Plain{}, Fold::Key);
    visit("count", &ReopenedFiles::count, Plain{}, Fold::Sum);
  }
};

template <> struct Fields<Finding> {
  static void each(auto &&visit) {
    visit("id", &Finding::id, Plain{}, Fold::Key);
    visit("kind", &Finding::kind, Plain{}, Fold::Key);
    visit("confidence", &Finding::confidence);
    visit("bytes", &SiteLine::bytes, Plain{}, Fold::Sum);
    visit("count", &SiteLine::count, Plain{}, Fold::Sum);
    visit("heap", &Finding::heap, Plain{}, Fold::Key);
    visit("device", &Finding::device, Plain{}, Fold::Key);
    visit("saves_bytes", &Finding::saves_bytes, Plain{}, Fold::Sum);
    visit("saves_cumulative_bytes", &Finding::saves_cumulative_bytes, Plain{}, Fold::Sum);
    visit("saves_ns", &Finding::saves_ns, Plain{}, Fold::Sum);
    visit("byte_seconds", &Finding::byte_seconds, Plain{}, Fold::Sum);
    visit("site", &SiteLine::site, Plain{}, Fold::Key);
    visit("owner", &Finding::owner, OrNull{});
    visit("closed_library", &Finding::closed_library, OrNull{});
    visit("evidence", &Finding::evidence);
    visit("advice", &Finding::advice);
    visit("retracted", &Finding::retracted);
    LineFields::each(visit);
    visit("family", &Finding::family, UnlessEmpty{});
    visit("family_bytes", &Finding::family_bytes, UnlessEmpty{}, Fold::Sum);
    visit("part", &Finding::part, UnlessEmpty{}, Fold::Key);
    visit("callers", &Finding::callers, UnlessEmpty{}, Fold::Key);
    visit("analyzer", &Finding::analyzer, UnlessEmpty{}, Fold::Key);
    visit("concern", &Finding::concern);
    visit.onlyIf("holder", &Finding::holder, [](const Finding &finding) { return finding.holder != FrameText{}; });
    visit("reopened", &Finding::reopened, UnlessEmpty{});
  }
};

template <> struct Fields<Column> {
  static void each(auto &&visit) {
    visit("name", &Column::name, Plain{}, Fold::Key);
    visit("unit", &Column::unit);
    visit("fold", &Column::fold);
  }
};

template <> struct Fields<Section> {
  static void each(auto &&visit) {
    visit("name", &Section::name, Plain{}, Fold::Key);
    visit("title", &Section::title);
    visit("columns", &Section::columns);
    visit("rows", &Section::rows);
    visit.derived("totals", [](const Section &section, const Report &) { return section.totals(); });
    visit("in_text", &Section::in_text);
    visit("is_grouping", &Section::is_grouping);
    visit("compares", &Section::compares);
    visit("is_users_own", &Section::is_users_own, UnlessEmpty{});
  }
};

template <> struct Fields<WatchLine> {
  static void each(auto &&visit) {
    visit("name", &WatchLine::name);
    visit("operator", &WatchLine::operation);
    visit("site", &WatchLine::site);
    visit("offset", &WatchLine::offset);
    visit("bytes", &WatchLine::bytes);
    visit("step", &WatchLine::step);
    visit("given", &WatchLine::given);
    visit("block", &WatchLine::address);
    visit("time_ns", &WatchLine::time_ns);
    visit.derived("since_start_ns", [](const WatchLine &line, const Report &report) {
      return sinceStart(line.time_ns, report.start_ns);
    });
    visit("digest", &WatchLine::digest, Digest{});
    visit("file", &WatchLine::file, WatchFile{});
    visit("process", &WatchLine::process);
  }
};

template <> struct Fields<KernelRefusal> {
  static void each(auto &&visit) {
    visit("mechanism", &KernelRefusal::mechanism);
    visit("reason", &KernelRefusal::reason);
    visit("errno", &KernelRefusal::error);
  }
};

template <> struct Fields<KernelCollector> {
  static void each(auto &&visit) {
    visit("name", &KernelCollector::name, Plain{}, Fold::Key);
    visit("state", &KernelCollector::state);
    visit("mechanism", &KernelCollector::mechanism, OrNull{});
    visit("reason", &KernelCollector::reason, OrNull{});
    visit("errno", &KernelCollector::error);
    visit("entered", &KernelCollector::entered, Plain{}, Fold::Sum);
    visit("delivered", &KernelCollector::delivered, Plain{}, Fold::Sum);
    visit("ring_full", &KernelCollector::ring_full, Plain{}, Fold::Sum);
    visit("map_full", &KernelCollector::map_full, Plain{}, Fold::Sum);
    visit("unreturned", &KernelCollector::unreturned, Plain{}, Fold::Sum);
    visit("refusals", &KernelCollector::refusals);
  }
};

template <> struct Fields<KernelCause> {
  static void each(auto &&visit) {
    visit("kind", &KernelCause::kind, Plain{}, Fold::Key);
    visit("name", &KernelCause::name, OrNull{}, Fold::Key);
    visit("duration_ns", &KernelCause::duration_ns, Plain{}, Fold::Sum);
    visit("count", &KernelCause::count, Plain{}, Fold::Sum);
  }
};

template <> struct Fields<SlowOperation> {
  static void each(auto &&visit) {
    visit("what", &SlowOperation::what);
    visit("site", &SlowOperation::site);
    visit("duration_ns", &SlowOperation::duration_ns);
    visit("explained_ns", &SlowOperation::explained_ns);
    visit("causes", &SlowOperation::causes);
    visit("time_ns", &SlowOperation::time_ns);
    visit.derived("since_start_ns", [](const SlowOperation &slow, const Report &report) {
      return sinceStart(slow.time_ns, report.start_ns);
    });
    visit("pid", &SlowOperation::pid);
    visit("tid", &SlowOperation::tid);
  }
};

template <> struct Fields<KernelEvidence> {
  static void each(auto &&visit) {
    visit("collectors", &KernelEvidence::collectors);
    visit("slowest", &KernelEvidence::slowest);
  }
};

template <> struct Fields<ReportProcess> {
  static void each(auto &&visit) {
    visit("pid", &ReportProcess::pid);
    visit("command", &ReportProcess::command);
    visit("exit", &ReportProcess::exit);
    visit("fate", &ReportProcess::fate);
    visit("process", &ReportProcess::process, Plain{}, Fold::Key);
    visit("name", &ReportProcess::name);
    visit("rank", &ReportProcess::rank);
    visit("pss_bytes", &ReportProcess::pss_bytes);
    visit("private_bytes", &ReportProcess::private_bytes);
    visit("shared_bytes", &ReportProcess::shared_bytes);
  }
};

template <> struct Fields<EventAccount> {
  static void each(auto &&visit) {
    visit("produced", &EventAccount::produced, Plain{}, Fold::Sum);
    visit("stored", &EventAccount::stored, Plain{}, Fold::Sum);
    visit("dropped", &EventAccount::dropped, Plain{}, Fold::Sum);
    visit("stalled_ns", &EventAccount::stalled_ns, Plain{}, Fold::Sum);
    visit("missing", &EventAccount::missing, Plain{}, Fold::Sum);
  }
};

template <> struct Fields<LiveSetCounts> {
  static void each(auto &&visit) {
    visit("allocs", &LiveSetCounts::allocs, Plain{}, Fold::Sum);
    visit("frees", &LiveSetCounts::frees, Plain{}, Fold::Sum);
    visit("failed_allocs", &LiveSetCounts::failed_allocs, Plain{}, Fold::Sum);
    visit("unmatched_frees", &LiveSetCounts::unmatched_frees, Plain{}, Fold::Sum);
    visit("frees_before_start", &LiveSetCounts::frees_before_start, Plain{}, Fold::Sum);
    visit("freed_unseen", &LiveSetCounts::freed_unseen, Plain{}, Fold::Sum);
    visit("unmatched_retargets", &LiveSetCounts::unmatched_retargets, Plain{}, Fold::Sum);
    visit("implicit_frees", &LiveSetCounts::implicit_frees, Plain{}, Fold::Sum);
    visit("late_frees", &LiveSetCounts::late_frees, Plain{}, Fold::Sum);
    visit("early_frees", &LiveSetCounts::early_frees, Plain{}, Fold::Sum);
    visit("unknown_heaps", &LiveSetCounts::unknown_heaps, Plain{}, Fold::Sum);
  }
};

template <> struct Fields<NamedText> {
  static void each(auto &&visit) {
    visit("name", &NamedText::name, Plain{}, Fold::Key);
    visit("value", &NamedText::text);
  }
};

// The version of the result's JSON. A reader refuses a newer version, because its unknown fields may matter.
inline constexpr uint32_t kResultVersion = 1;

template <> struct Fields<ReportMoment> {
  static void each(auto &&visit) {
    visit("moment", &ReportMoment::name);
    visit("time_ns", &ReportMoment::time_ns);
  }
};

template <> struct Fields<Report> {
  static void each(auto &&visit) {
    visit.derived("version", [](const Report &, const Report &) { return kResultVersion; });
    visit("run", &Report::run);
    visit.object("session", [](auto &&session) {
      session("state", &Report::state, OrNull{});
      session("command", &Report::command);
      session("start_ns", &Report::start_ns);
      session("duration_ns", &Report::duration_ns, Plain{}, Fold::Largest);
      session.derived("complete", [](const Report &report, const Report &) { return report.complete(); });
      session("closed", &Report::closed);
      session("source", &Report::source, OrNull{});
    });
    visit("at", &Report::at);
    visit("events", &Report::events);
    visit.object("cost", [](auto &&cost) {
      cost("collector_cpu_ns", &Report::collector_cpu_ns, Plain{}, Fold::Sum);
      cost("events_per_s", &Report::events_per_s, Plain{}, Fold::Sum);
    });
    visit("processes", &Report::processes);
    visit("findings", &AnalysisResult::findings);
    visit("peak", &AnalysisResult::peak);
    visit("floor", &AnalysisResult::floor);
    visit("ledger", &AnalysisResult::ledger);
    visit.object("leaks", [](auto &&leaks) {
      leaks.part(&AnalysisResult::leaks);
      leaks("found", &AnalysisResult::found_leaks);
      leaks("suppressed", &AnalysisResult::suppressed);
    });
    visit("alive_at_end", &AnalysisResult::alive);
    visit("unsure", &AnalysisResult::unsure);
    visit("handles", &AnalysisResult::handles);
    visit("watch", &AnalysisResult::watch);
    visit("kernel", &AnalysisResult::kernel);
    visit("sections", &AnalysisResult::sections);
    visit("blocks", &Report::counts);
    visit("damage", &Report::damage);
    visit("notes", &Report::notes);
    visit("environment", &Report::environment);
    visit("failed_analyzers", &Report::failed_analyzers, UnlessEmpty{});
  }
};

} // namespace msleaks::analysis::inline result
