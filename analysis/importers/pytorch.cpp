// pytorch: memory snapshots that torch.cuda.memory._dump_snapshot() writes, and those of `msleaks export` in the same
// form (docs/formats.md).
#include "analysis/counts/pickle.h"
#include "analysis/importers/registry.h"
#include "analysis/importers/snapshot_lane.h"
#include "msleaks/abi/session.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>

namespace msleaks::analysis::inline importers {
namespace {

using profiles::Pickle;

constexpr size_t kMostSnapshotValues = size_t{1} << 28;
constexpr uint64_t kMostTimeUs = uint64_t{INT64_MAX} / 2000;
constexpr uint32_t kAnnotations = 0; // tid of the ranges; lists of events have numbers from 1 on

bool isPickle(std::string_view beginning) {
  return beginning.size() > 1 && beginning[0] == '\x80' && beginning[1] >= 2 && beginning[1] <= 5;
}

// Reads the values of a pickle whose keys may be missing or have other types.
class Snapshot {
public:
  Snapshot(const Pickle &pickle, ForeignRun &run) : pickle_(pickle), run_(run) {}
  Result<void> read();

private:
  using Ref = Pickle::Ref;

  std::string_view textOf(Ref from, std::string_view key) const {
    const Ref *const value = pickle_.find(from, key);
    return value && pickle_.kindOf(*value) == Pickle::Kind::Text ? pickle_.textOf(*value) : std::string_view();
  }
  std::optional<uint64_t> numberOf(Ref from, std::string_view key) const {
    const Ref *const value = pickle_.find(from, key);
    return value && pickle_.kindOf(*value) == Pickle::Kind::Integer ? std::optional(pickle_.integerOf(*value))
                                                                    : std::nullopt;
  }
  std::span<const Ref> itemsOf(Ref list) const {
    return pickle_.kindOf(list) == Pickle::Kind::List ? std::span(pickle_.itemsOf(list)) : std::span<const Ref>();
  }
  std::span<const Ref> listIn(Ref from, std::string_view key) const {
    const Ref *const value = pickle_.find(from, key);
    return value ? itemsOf(*value) : std::span<const Ref>();
  }
  uint64_t timeOf(Ref event) {
    const auto time_us = numberOf(event, "time_us");
    has_times_ |= time_us.has_value();
    return 1000 * (1 + std::min(time_us.value_or(last_us_ + 1), kMostTimeUs));
  }

  using SegmentsByDevice = std::map<uint64_t, std::vector<Ref>>;
  SegmentsByDevice segmentsByDevice(std::span<const Ref> segments) const {
    SegmentsByDevice sorted;
    for (const Ref segment : segments)
      sorted[std::min<uint64_t>(numberOf(segment, "device").value_or(0), UINT8_MAX)].push_back(segment);
    return sorted;
  }

  void noteBegin();
  void readFacts();
  void readLane(std::span<const Ref> events, SnapshotLane &);
  void readEvent(Ref event, SnapshotLane &);
  void readSegment(Ref segment, SnapshotLane &);
  void readAnnotations();
  void note(const BlockSum &older);
  ForeignCall callOf(Ref frame) const;
  uint32_t siteOf(Ref owner, ForeignRun::Process &);

  const Pickle &pickle_;
  ForeignRun &run_;
  std::span<const Ref> names_; // of the lists, in a snapshot of msleaks
  bool is_ours_ = false, has_times_ = false;
  uint64_t begin_ns_ = UINT64_MAX, last_us_ = 0;
  std::map<std::pair<uint32_t, Ref>, uint32_t> sites_; // by process and list of frames
  std::map<std::pair<uint32_t, Ref>, ForeignPaths::Frame> frames_;
};

// A call of C++ has the file "??" if it is not known. A file may also be a library. The lines of PyTorch's own
// snapshots that are not Python are mostly PyTorch's, and never the place.
ForeignCall Snapshot::callOf(Ref frame) const {
  ForeignCall call;
  call.function = textOf(frame, "name");
  call.file = textOf(frame, "filename");
  call.line = static_cast<uint32_t>(std::min<uint64_t>(numberOf(frame, "line").value_or(0), UINT32_MAX));
  call.is_python = call.file.ends_with(".py") || call.file.starts_with('<');
  if (call.file == "??")
    call.file = {};
  if (call.function == "??")
    call.function = {};
  if (!call.is_python && call.file.find(".so") != std::string_view::npos)
    call.library = std::exchange(call.file, {});
  else if (!call.is_python)
    call.library = is_ours_ ? textOf(frame, "library") : "C++";
  return call;
}

// Whether the function is one of CPython: PyObject_Call, Py_RunMain, _PyEval_EvalFrameDefault. Its calls stand between
// the calls of Python that they run.
bool isOfInterpreter(const ForeignCall &call) {
  constexpr std::string_view kPublic = "Py", kPrivate = "_Py";
  const std::string_view name = call.function;
  const char next = name.starts_with(kPublic) && name.size() > kPublic.size() ? name[kPublic.size()] : 'a';
  return !call.is_python && (name.starts_with(kPrivate) || next == '_' || (next >= 'A' && next <= 'Z'));
}

uint32_t Snapshot::siteOf(Ref owner, ForeignRun::Process &process) {
  const Ref *const list = pickle_.find(owner, "frames");
  if (!list || pickle_.kindOf(*list) != Pickle::Kind::List)
    return 0;
  const auto [found, is_new] = sites_.try_emplace({process.pid, *list}, 0);
  if (!is_new)
    return found->second;
  const std::vector<Ref> &items = pickle_.itemsOf(*list);
  uint32_t node = abi::kPathBegin;
  for (size_t i = std::min<size_t>(items.size(), abi::kMaxPathDepth); i-- > 0;) {
    const auto [frame, is_new_frame] = frames_.try_emplace({process.pid, items[i]});
    if (is_new_frame) {
      const ForeignCall call = callOf(items[i]);
      const bool is_known =
          !call.function.empty() || !call.file.empty() || call.library.find(".so") != std::string_view::npos;
      if (is_known && (is_ours_ || !isOfInterpreter(call)))
        frame->second = process.paths.frameOf(call);
    }
    if (frame->second != ForeignPaths::Frame{})
      node = process.paths.nodeOf(node, frame->second);
  }
  return found->second = ForeignPaths::siteOf(node);
}

// "owner X, module Y, heap Z": what `msleaks export` writes. All of another text is the owner.
struct SnapshotMetadata {
  std::string_view owner, heap;
};
SnapshotMetadata metadataIn(std::string_view text, bool is_ours) {
  if (!is_ours)
    return {text, {}};
  SnapshotMetadata metadata;
  const auto takeLast = [&text](std::string_view what) {
    const size_t at = text.rfind(what);
    if (at == std::string_view::npos || (at != 0 && !text.substr(0, at).ends_with(", ")))
      return std::string_view();
    const std::string_view value = text.substr(at + what.size());
    text = text.substr(0, at < 2 ? 0 : at - 2);
    return value;
  };
  metadata.heap = takeLast("heap ");
  takeLast("module ");
  metadata.owner = takeLast("owner ");
  return metadata;
}

void Snapshot::readLane(std::span<const Ref> events, SnapshotLane &lane) {
  last_us_ = 0;
  for (const Ref event : events)
    readEvent(event, lane);
}

void Snapshot::readEvent(Ref event, SnapshotLane &lane) {
  const std::string_view action = textOf(event, "action");
  const uint64_t time_ns = timeOf(event), address = numberOf(event, "addr").value_or(0),
                 size = numberOf(event, "size").value_or(0);
  last_us_ = time_ns / 1000 - 1;
  const auto site = [&] { return siteOf(event, lane.process()); };
  if (action == "alloc") {
    const SnapshotMetadata metadata = metadataIn(textOf(event, "user_metadata"), is_ours_);
    lane.alloc({address, size, time_ns, site(), metadata.owner, metadata.heap});
  } else if (action == "free_completed" || action == "free") {
    lane.free(address, size, time_ns);
  } else if (action == "segment_alloc" || action == "segment_map") {
    lane.map(address, size, time_ns, site());
  } else if (action == "segment_free" || action == "segment_unmap") {
    lane.unmap(address, size, time_ns);
  } else if (action == "oom") {
    lane.refuse(size, time_ns, site());
  } else if (action == "annotate") {
    lane.own(address, textOf(event, "user_metadata"), time_ns);
  }
}

// An event has the size that was requested. So a block at the end counts with this size, too.
void Snapshot::readSegment(Ref segment, SnapshotLane &lane) {
  uint64_t address = numberOf(segment, "address").value_or(0);
  lane.mappedAtEnd(address, numberOf(segment, "total_size").value_or(0), siteOf(segment, lane.process()));
  for (const Ref block : listIn(segment, "blocks")) {
    address = numberOf(block, "address").value_or(address);
    const uint64_t size = numberOf(block, "size").value_or(0);
    const std::span<const Ref> history = listIn(block, "history"); // in versions before 2.1
    if (textOf(block, "state").starts_with("active"))
      lane.aliveAtEnd(address, numberOf(block, "requested_size").value_or(size),
                      siteOf(history.empty() ? block : history.front(), lane.process()));
    address += size;
  }
}

// The name of a list of `msleaks export`: "device 3 of process 2 (pid 4712)".
struct LaneName {
  SnapshotLane::Kind kind = SnapshotLane::Kind::Device;
  uint64_t device = 0;
  uint32_t pid = 1;
};
LaneName laneNameIn(std::string_view text) {
  LaneName name;
  const auto numberBehind = [&](std::string_view word, auto &number) {
    const size_t at = text.rfind(word);
    if (at != std::string_view::npos)
      std::from_chars(text.data() + at + word.size(), text.data() + text.size(), number);
  };
  if (text.starts_with("host memory"))
    name.kind = SnapshotLane::Kind::Host;
  else if (text.starts_with("pools"))
    name.kind = SnapshotLane::Kind::Pools;
  else
    numberBehind("device ", name.device);
  numberBehind("(pid ", name.pid);
  return name;
}

void Snapshot::noteBegin() {
  for (const char *const key : {"device_traces", "host_traces"})
    for (const Ref list : listIn(pickle_.root(), key))
      for (const Ref event : itemsOf(list))
        begin_ns_ = std::min(begin_ns_, timeOf(event));
  if (!has_times_ || begin_ns_ == UINT64_MAX)
    begin_ns_ = 1000;
}

void Snapshot::readFacts() {
  const Ref *const ours = pickle_.find(pickle_.root(), "msleaks");
  is_ours_ = ours != nullptr;
  run_.facts.source = "pytorch";
  run_.facts.kind = "a memory snapshot of PyTorch";
  run_.facts.loss = "It has no types, no variables, no pointers and no launches";
  if (!is_ours_)
    return;
  names_ = listIn(*ours, "devices");
  for (const Ref word : listIn(*ours, "command"))
    if (pickle_.kindOf(word) == Pickle::Kind::Text)
      run_.facts.command.emplace_back(pickle_.textOf(word));
}

// Ranges of torch.profiler. Its steps are ranges with the name ProfilerStep#N.
void Snapshot::readAnnotations() {
  constexpr std::string_view kStep = "ProfilerStep#";
  ForeignRun::Process &process = run_.process(1);
  std::map<std::pair<uint64_t, std::string_view>, std::vector<uint64_t>> open; // by device and name
  uint64_t last_id = 0;
  for (const Ref annotation : listIn(pickle_.root(), "external_annotations")) {
    const std::string_view name = textOf(annotation, "name"), stage = textOf(annotation, "stage");
    const uint64_t time_ns = timeOf(annotation);
    std::vector<uint64_t> &ids = open[{numberOf(annotation, "device").value_or(0), name}];
    if (stage == "START") {
      abi::RangeBeginEvent event{};
      event.label = process.paths.labelOf(name);
      event.id = ids.emplace_back(++last_id);
      run_.add(process, kAnnotations, time_ns, event);
      abi::StepEvent step{};
      if (!name.starts_with(kStep))
        continue;
      std::from_chars(name.data() + kStep.size(), name.data() + name.size(), step.number);
      run_.add(process, kAnnotations, time_ns, step);
    } else if (stage == "END" && !ids.empty()) {
      abi::RangeEndEvent event{};
      event.id = ids.back();
      ids.pop_back();
      run_.add(process, kAnnotations, time_ns, event);
    }
  }
}

void Snapshot::note(const BlockSum &older) {
  std::vector<std::string> &notes = run_.facts.notes;
  if (older.count != 0)
    notes.push_back(
        fmt::format("{} blocks with {} bytes are older than the first event of the snapshot: their time is not "
                    "known, and their place only if they are still alive",
                    older.count, older.bytes));
  if (!has_times_)
    notes.emplace_back("the snapshot has no times: its events are a microsecond apart");
}

Result<void> Snapshot::read() {
  const Ref root = pickle_.root();
  if (!pickle_.find(root, "segments") && !pickle_.find(root, "device_traces"))
    return fail("it is a pickle, but no memory snapshot of PyTorch: it has neither segments nor device_traces");
  readFacts();
  noteBegin();
  BlockSum older;
  uint32_t tid = kAnnotations;
  for (const auto &[lists, ends, kind] : {std::tuple("device_traces", "segments", SnapshotLane::Kind::Device),
                                          std::tuple("host_traces", "host_segments", SnapshotLane::Kind::PinnedPool)}) {
    const std::span<const Ref> traces = listIn(root, lists);
    const SegmentsByDevice segments = segmentsByDevice(listIn(root, ends));
    const uint64_t lanes = std::max<uint64_t>(traces.size(), segments.empty() ? 0 : segments.rbegin()->first + 1);
    for (uint64_t number = 0; number < lanes; ++number) {
      LaneName name{kind, number, 1};
      if (number < names_.size() && pickle_.kindOf(names_[number]) == Pickle::Kind::Text)
        name = laneNameIn(pickle_.textOf(names_[number]));
      SnapshotLane lane(run_, run_.process(name.pid), name.kind, name.device, ++tid, is_ours_, begin_ns_);
      readLane(number < traces.size() ? itemsOf(traces[number]) : std::span<const Ref>(), lane);
      if (const auto at_end = segments.find(number); at_end != segments.end() && !is_ours_)
        for (const Ref segment : at_end->second)
          readSegment(segment, lane);
      lane.write();
      older += lane.olderBlocks();
    }
  }
  if (!is_ours_)
    run_.process(1).end = EndReason::Running;
  readAnnotations();
  note(older);
  return {};
}

Result<void> readSnapshot(std::istream &in, ForeignRun &run) {
  const std::string content(std::istreambuf_iterator<char>(in), {});
  const Pickle pickle = MSL_TRY(Pickle::parse(content, kMostSnapshotValues));
  return Snapshot(pickle, run).read();
}

} // namespace

MSL_REGISTER_IMPORTER(pytorch, "memory snapshots of PyTorch", isPickle, readSnapshot)

} // namespace msleaks::analysis::inline importers
