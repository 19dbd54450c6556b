// perfetto: a trace for https://ui.perfetto.dev and trace_processor (docs/formats.md).
#include "analysis/exporters/numbered.h"
#include "analysis/exporters/path_exporter.h"
#include "analysis/exporters/protobuf.h"
#include "analysis/exporters/registry.h"
#include "analysis/exporters/timeline_exporter.h"
#include "analysis/exporters/trace_names.h"
#include "analysis/places/place.h"

#include <map>
#include <set>
#include <tuple>

namespace msleaks::analysis::inline exporters {
namespace {

// The numbers of fields in https://github.com/google/perfetto/blob/main/protos/perfetto/trace/perfetto_trace.proto.
namespace packet {
enum { Timestamp = 8, SequenceId = 10, Event = 11, InternedData = 12, SequenceFlags = 13, Profile = 37, Track = 60 };
}
namespace track {
enum { Uuid = 1, Name, Process, Thread, Parent, Counter = 8 };
}
namespace descriptor { // of a process, a thread and a counter
enum { Pid = 1, ProcessName = 6, Tid = 2, Unit = 3, ShareKey = 7 };
}
namespace event {
enum { Annotations = 4, Type = 9, NameId, TrackId, CounterValue = 30, Name = 23 };
}
namespace annotation {
enum { Number = 3, Text = 6, Name = 10 };
}
namespace interned {
enum { EventNames = 2, Functions = 5, Frames, Callstacks, MappingPaths = 17, SourcePaths, Mappings };
}
namespace frame {
enum { Function = 2, Mapping, RelativePc, Source, Line };
}
namespace profile {
enum { Dumps = 5, Index = 7 };
}
namespace dump {
enum { Pid = 1, Samples, FromStartup, Timestamp = 9, HeapName = 11, Interval };
}
namespace heap_sample {
enum { Callstack = 1, Allocated, Timestamp = 4, Count };
}
enum EventType : uint8_t { SliceBegin = 1, SliceEnd, Instant, CounterPoint };
constexpr uint32_t kInternedId = 1, kInternedText = 2, kMappingPaths = 7, kCallstackFrames = 2;
constexpr uint64_t kSizeBytes = 3; // a unit
constexpr uint64_t kClearedAndNeeded = 3, kNeeded = 2;

// Texts or encoded messages with ids from 1. A new one is added to the next packet.
class Interned {
public:
  explicit Interned(uint32_t field) : field_(field) {}
  uint64_t idOf(std::string content, ProtobufMessage &data, bool is_text) {
    const auto [known, is_new] = ids_.try_emplace(std::move(content), ids_.size() + 1);
    if (is_new) {
      ProtobufMessage entry;
      entry.number(kInternedId, known->second);
      is_text ? entry.text(kInternedText, known->first) : entry.append(known->first);
      data.message(field_, entry);
    }
    return known->second;
  }

private:
  uint32_t field_;
  std::map<std::string, uint64_t> ids_;
};

class PerfettoExporter final : public TimelineExporter {
protected:
  void beginTimeline(ReadRun &) override;
  void addCurve(size_t curve, const std::string &name) override;
  void addPoint(size_t curve, uint64_t time_ns, uint64_t bytes) override;
  void addLaunch(const Slice &slice) override { addMoment(trackOfThread(slice), slice); }
  void addMark(const Slice &slice) override { addMoment(trackOfThread(slice), slice); }
  void addStep(const Slice &) override;
  void addKernel(const Slice &) override;
  void addFinding(const Slice &) override;
  bool hasProfiles() const override { return true; }
  void addProfile(ReadRun &, const std::string &curve, uint64_t time_ns, const std::vector<CohortShare> &) override;
  void endTimeline(ReadRun &run) override;

private:
  void write(ProtobufMessage &packet);
  uint64_t addTrack(uint64_t parent, const std::string &name);
  uint64_t trackOfProcess(uint32_t process);
  uint64_t trackOfThread(const Slice &);
  uint64_t trackOfSteps(uint32_t process);
  uint64_t trackOfKernel(const Slice &);
  void addEvent(EventType, uint64_t track, uint64_t time_ns, const Slice *);
  void addMoment(uint64_t track, const Slice &slice) { addEvent(Instant, track, slice.begin_ns, &slice); }
  uint64_t callstackOf(SiteCatalog &, SiteId);
  uint64_t mappingOf(const SiteText &);

  std::optional<TraceNames> names_;
  std::map<uint32_t, std::string> commands_; // by process
  bool has_begun_ = false;
  uint64_t last_track_ = 0, profiles_ = 0, findings_track_ = 0;
  std::vector<uint64_t> curves_; // tracks
  std::map<uint32_t, uint64_t> processes_, steps_;
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> threads_;
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> kernel_; // by pid and tid
  std::vector<uint64_t> finding_ends_;                       // one for each open finding
  ProtobufMessage interned_;                                 // of the next packet
  Interned event_names_{interned::EventNames}, functions_{interned::Functions}, frames_{interned::Frames},
      callstacks_{interned::Callstacks}, mapping_paths_{interned::MappingPaths}, sources_{interned::SourcePaths},
      mappings_{interned::Mappings};
  std::vector<uint64_t> callstack_ids_; // by site
};

// Each packet belongs to one sequence, because ids of texts are valid in one sequence only.
void PerfettoExporter::write(ProtobufMessage &content) {
  if (!interned_.bytes().empty())
    content.message(packet::InternedData, interned_);
  interned_ = {};
  content.number(packet::SequenceId, 1);
  content.number(packet::SequenceFlags, has_begun_ ? kNeeded : kClearedAndNeeded);
  has_begun_ = true;
  ProtobufMessage trace;
  trace.message(1, content);
  out() << trace.bytes();
}

uint64_t PerfettoExporter::addTrack(uint64_t parent, const std::string &name) {
  ProtobufMessage described, content;
  described.number(track::Uuid, ++last_track_);
  described.number(track::Parent, parent);
  described.text(track::Name, name);
  content.message(packet::Track, described);
  write(content);
  return last_track_;
}

void PerfettoExporter::beginTimeline(ReadRun &run) {
  names_.emplace(run.trace, run.catalog.labels());
  for (const ReportProcess &process : run.report.processes)
    if (!process.command.empty())
      commands_[process.process] = printable(baseName(process.command.front()));
  for (const ReportProcess &process : run.report.processes)
    trackOfProcess(process.process);
}

uint64_t PerfettoExporter::trackOfProcess(uint32_t process) {
  uint64_t &known = processes_[process];
  if (known != 0)
    return known;
  ProtobufMessage told, described, content;
  told.number(descriptor::Pid, names_->pid(process).value_or(0));
  told.text(descriptor::ProcessName, commands_[process]);
  described.number(track::Uuid, known = ++last_track_);
  described.message(track::Process, told);
  content.message(packet::Track, described);
  write(content);
  return known;
}

uint64_t PerfettoExporter::trackOfThread(const Slice &slice) {
  const uint64_t process = trackOfProcess(slice.process);
  uint64_t &known = threads_[{slice.process, slice.stream}];
  if (known != 0)
    return known;
  ProtobufMessage told, described, content;
  told.number(descriptor::Pid, names_->pid(slice.process).value_or(0));
  told.number(descriptor::Tid, names_->tid(slice.process, slice.stream).value_or(0));
  described.number(track::Uuid, known = ++last_track_);
  described.number(track::Parent, process);
  described.message(track::Thread, told);
  content.message(packet::Track, described);
  write(content);
  return known;
}

uint64_t PerfettoExporter::trackOfSteps(uint32_t process) {
  const uint64_t parent = trackOfProcess(process);
  uint64_t &known = steps_[process];
  return known != 0 ? known : known = addTrack(parent, "steps");
}

void PerfettoExporter::addCurve(size_t curve, const std::string &name) {
  ProtobufMessage counter, described, content;
  counter.number(descriptor::Unit, kSizeBytes);
  counter.text(descriptor::ShareKey, "memory");
  described.number(track::Uuid, ++last_track_);
  described.text(track::Name, name);
  described.message(track::Counter, counter);
  content.message(packet::Track, described);
  write(content);
  elementAt(curves_, curve) = last_track_;
}

void PerfettoExporter::addPoint(size_t curve, uint64_t time_ns, uint64_t bytes) {
  ProtobufMessage point, content;
  point.number(event::Type, CounterPoint);
  point.number(event::TrackId, curves_[curve]);
  point.anyNumber(event::CounterValue, bytes);
  content.number(packet::Timestamp, time_ns);
  content.message(packet::Event, point);
  write(content);
}

void PerfettoExporter::addEvent(EventType type, uint64_t track, uint64_t time_ns, const Slice *slice) {
  ProtobufMessage told, content;
  told.number(event::Type, type);
  told.number(event::TrackId, track);
  if (slice != nullptr)
    told.number(event::NameId, event_names_.idOf(slice->name, interned_, true));
  for (const SliceFact &fact : slice != nullptr ? slice->facts : std::vector<SliceFact>{}) {
    ProtobufMessage noted;
    noted.text(annotation::Name, fact.name);
    if (const auto *number = std::get_if<uint64_t>(&fact.value))
      noted.anyNumber(annotation::Number, *number);
    else
      noted.text(annotation::Text, std::get<std::string>(fact.value));
    told.message(event::Annotations, noted);
  }
  content.number(packet::Timestamp, time_ns);
  content.message(packet::Event, told);
  write(content);
}

void PerfettoExporter::addStep(const Slice &slice) {
  const uint64_t steps = trackOfSteps(slice.process);
  addEvent(SliceBegin, steps, slice.begin_ns, &slice);
  addEvent(SliceEnd, steps, slice.end_ns, nullptr);
}

// The row of the thread itself, and below it a row of the kernel. A viewer knows a thread by its numbers.
uint64_t PerfettoExporter::trackOfKernel(const Slice &slice) {
  uint64_t &known = kernel_[{slice.pid, slice.tid}];
  if (known != 0)
    return known;
  ProtobufMessage told, described, content;
  told.number(descriptor::Pid, slice.pid);
  told.number(descriptor::Tid, slice.tid);
  const uint64_t thread = ++last_track_;
  described.number(track::Uuid, thread);
  described.message(track::Thread, told);
  content.message(packet::Track, described);
  write(content);
  return known = addTrack(thread, "kernel");
}

void PerfettoExporter::addKernel(const Slice &slice) {
  const uint64_t kernel = trackOfKernel(slice);
  addEvent(SliceBegin, kernel, slice.begin_ns, &slice);
  addEvent(SliceEnd, kernel, slice.end_ns, nullptr);
}

// All findings begin and end together, so each lies in the one before.
void PerfettoExporter::addFinding(const Slice &slice) {
  if (findings_track_ == 0)
    findings_track_ = addTrack(0, "findings");
  addEvent(SliceBegin, findings_track_, slice.begin_ns, &slice);
  finding_ends_.push_back(slice.end_ns);
}

void PerfettoExporter::endTimeline(ReadRun &) {
  for (const uint64_t end_ns : finding_ends_)
    addEvent(SliceEnd, findings_track_, end_ns, nullptr);
}

// A reader drops frames without a mapping, so frames of Python have one, too.
uint64_t PerfettoExporter::mappingOf(const SiteText &call) {
  ProtobufMessage mapping;
  const std::string path = call.library.empty() ? "(unknown library)" : printable(call.library);
  mapping.number(kMappingPaths, mapping_paths_.idOf(path, interned_, true));
  return mappings_.idOf(mapping.bytes(), interned_, false);
}

// The outermost frame comes first.
uint64_t PerfettoExporter::callstackOf(SiteCatalog &catalog, SiteId site) {
  uint64_t &known = elementAt(callstack_ids_, site.index);
  if (known != 0)
    return known;
  std::vector<uint64_t> path;
  for (const SiteId call : shownPath(catalog, site).calls) {
    const SiteText text = analysis::textOf(catalog.describe(call));
    for (const PathFrame &shown : framesOf(text)) {
      ProtobufMessage fields;
      fields.number(frame::Function, functions_.idOf(shown.function, interned_, true));
      fields.number(frame::Mapping, mappingOf(text));
      fields.number(frame::RelativePc, text.offset);
      if (!shown.file.empty())
        fields.number(frame::Source, sources_.idOf(shown.file, interned_, true));
      fields.number(frame::Line, shown.line);
      path.insert(path.begin(), frames_.idOf(fields.bytes(), interned_, false));
    }
  }
  ProtobufMessage callstack;
  for (const uint64_t id : path)
    callstack.number(kCallstackFrames, id);
  return known = callstacks_.idOf(callstack.bytes(), interned_, false);
}

// A profile has one dump for each process with such blocks.
void PerfettoExporter::addProfile(ReadRun &run, const std::string &curve, uint64_t time_ns,
                                  const std::vector<CohortShare> &shares) {
  std::map<uint32_t, std::map<uint64_t, BlockSum>> sums; // by process and callstack
  for (const CohortShare &share : shares) {
    const Cohort &cohort = run.cohorts[share.cohort];
    sums[cohort.process][callstackOf(run.catalog, cohort.site)] += share.sum;
  }
  ProtobufMessage all, content;
  for (const auto &[process, by_callstack] : sums) {
    ProtobufMessage told;
    told.number(dump::Pid, names_->pid(process).value_or(0));
    told.number(dump::FromStartup, 1);
    told.number(dump::Timestamp, time_ns);
    told.text(dump::HeapName, curve);
    told.number(dump::Interval, 1);
    for (const auto &[callstack, sum] : by_callstack) {
      ProtobufMessage sample;
      sample.number(heap_sample::Callstack, callstack);
      sample.number(heap_sample::Allocated, sum.bytes);
      sample.number(heap_sample::Timestamp, time_ns);
      sample.number(heap_sample::Count, sum.count);
      told.message(dump::Samples, sample);
    }
    all.message(profile::Dumps, told);
  }
  all.number(profile::Index, profiles_++);
  content.number(packet::Timestamp, time_ns);
  content.message(packet::Profile, all);
  write(content);
}

} // namespace

MSL_REGISTER_EXPORTER(perfetto, "memory over time, launches, steps, findings and profiles, for Perfetto",
                      PerfettoExporter)

} // namespace msleaks::analysis::inline exporters
