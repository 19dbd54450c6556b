#include "msleaks/analysis/trace_reader.h"

#include "trace/event_merge.h"
#include "trace/metadata.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace msleaks::analysis {

using namespace trace;

struct TraceReader::State {
  explicit State(InputFile opened) : file(std::move(opened)), payloads(file) {}

  void noteDamage(const ChunkPlace &place, const std::string &what);
  // The payload of a chunk, valid until the next call; false, and the damage noted, when it cannot be read.
  bool load(const ChunkPlace &place) {
    const Result<void> read = payloads.read(place.header, place.offset, payload);
    if (!read)
      noteDamage(place, read.error().message);
    return read.has_value();
  }
  template <class Metadata> void readMetadata(const ChunkPlace &place, Metadata metadata, std::vector<Metadata> &all);
  // Calls f(process, bytes of the payload) for each chunk of the kind, in file order.
  template <class F> void forEachPayload(ChunkKind kind, F &&f);
  void readAllMetadata();
  void countEvents();
  void noteForeignChunks();
  const StreamPlan *planOf(uint32_t process, uint32_t stream) const;

  InputFile file;
  ChunkIndex index;
  std::vector<StreamPlan> plans;
  std::vector<ProcessStart> starts;
  std::vector<ProcessEnd> ends;
  std::vector<StreamAccount> accounts;
  std::map<uint32_t, uint64_t> definition_bytes; // by process
  uint64_t events = 0;
  std::set<uint64_t> damaged; // offsets of chunks that damage() names already
  PayloadReader payloads;
  std::vector<uint8_t> payload;
};

void TraceReader::State::noteDamage(const ChunkPlace &place, const std::string &what) {
  if (!damaged.insert(place.offset).second)
    return;
  const ChunkHeader &header = place.header;
  std::string which = fmt::format("{} chunk at byte {}", nameOf(header.kind), place.offset);
  if (header.kind == ChunkKind::Events)
    which += fmt::format(" (process {}, stream {}, {} events)", header.process, header.stream, header.events);
  index.damage.push_back(fmt::format("{}: {}", which, what));
}

template <class Metadata>
void TraceReader::State::readMetadata(const ChunkPlace &place, Metadata metadata, std::vector<Metadata> &all) {
  if (!load(place))
    return;
  ByteReader bytes(payload);
  visitMetadata(MetadataReader(bytes), metadata);
  if (bytes.failed())
    noteDamage(place, "its fields make no sense");
  else
    all.push_back(std::move(metadata));
}

// Keeps the last one of those with the same key, ordered by key.
template <class Metadata, class KeyOf> static void keepLatest(std::vector<Metadata> &all, KeyOf &&keyOf) {
  std::map<std::decay_t<decltype(keyOf(all[0]))>, Metadata> latest;
  for (Metadata &metadata : all) {
    const auto key = keyOf(metadata);
    latest.insert_or_assign(key, std::move(metadata));
  }
  all.clear();
  for (auto &[key, metadata] : latest)
    all.push_back(std::move(metadata));
}

void TraceReader::State::readAllMetadata() {
  for (const ChunkPlace &place : index.chunks) {
    const ChunkHeader &header = place.header;
    if (header.kind == ChunkKind::ProcessStart)
      readMetadata(place,
                   ProcessStart{.process = header.process,
                                .pid = 0,
                                .parent_pid = 0,
                                .time_ns = header.first_time_ns,
                                .realtime_ns = 0,
                                .command = {},
                                .pid_namespace = 0,
                                .exec_id = 0,
                                .page_bytes = 0},
                   starts);
    else if (header.kind == ChunkKind::ProcessEnd)
      readMetadata(place,
                   ProcessEnd{.process = header.process,
                              .time_ns = header.first_time_ns,
                              .status = -1,
                              .dropped_no_ring = 0,
                              .reason = {}},
                   ends);
    else if (header.kind == ChunkKind::StreamAccount)
      readMetadata(place,
                   StreamAccount{.process = header.process,
                                 .stream = header.stream,
                                 .tid = 0,
                                 .thread_name = {},
                                 .produced = 0,
                                 .dropped = 0,
                                 .stalled_ns = 0},
                   accounts);
    else if (header.kind == ChunkKind::Definitions)
      definition_bytes[header.process] += header.raw_bytes;
  }
  const auto byProcess = [](const auto &metadata) { return metadata.process; };
  keepLatest(starts, byProcess);
  keepLatest(ends, byProcess);
  keepLatest(accounts, [](const StreamAccount &account) { return std::pair(account.process, account.stream); });
}

// A chunk of which a part is stored twice has to be decoded for it: its header counts slots there, not events.
void TraceReader::State::countEvents() {
  std::unique_ptr<EventDecoder> decoder; // rarely needed, and too large to be made for each chunk
  for (StreamPlan &plan : plans) {
    for (const PlannedChunk &chunk : plan.chunks) {
      plan.events += chunk.place.header.events;
      if (chunk.skip_slots == 0 || !load(chunk.place))
        continue;
      if (!decoder)
        decoder = std::make_unique<EventDecoder>();
      if (!decoder->open(payload, chunk.place.header.events))
        continue;
      abi::AnyEvent event{};
      for (uint32_t slots = 0; slots < chunk.skip_slots && decoder->next(event); --plan.events)
        slots += abi::slotsOf(event.header().kind);
    }
    events += plan.events;
  }
}

// Null for a stream without events.
const StreamPlan *TraceReader::State::planOf(uint32_t process, uint32_t stream) const {
  const auto wanted = std::pair(process, stream);
  const auto at = std::lower_bound(plans.begin(), plans.end(), wanted, [](const StreamPlan &plan, const auto &key) {
    return std::pair(plan.process, plan.stream) < key;
  });
  return at != plans.end() && std::pair(at->process, at->stream) == wanted ? &*at : nullptr;
}

void TraceReader::State::noteForeignChunks() {
  const auto foreign = std::count_if(index.chunks.begin(), index.chunks.end(),
                                     [](const ChunkPlace &place) { return place.header.kind > kLastChunkKind; });
  if (foreign > 0)
    index.damage.push_back(
        fmt::format("{} chunks of a kind that this version does not know were passed over", foreign));
}

TraceReader::TraceReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
TraceReader::TraceReader(TraceReader &&) noexcept = default;
TraceReader &TraceReader::operator=(TraceReader &&) noexcept = default;
TraceReader::~TraceReader() = default;

Result<TraceReader> TraceReader::open(const std::filesystem::path &path) {
  auto file = MSL_TRY(InputFile::open(path));
  auto state = std::make_unique<State>(std::move(file));
  auto index = MSL_TRY(readIndex(state->file));
  state->index = std::move(index);
  state->plans = planStreams(state->index.chunks);
  // The plans have them now; there may be millions.
  std::erase_if(state->index.chunks, [](const ChunkPlace &place) { return place.header.kind == ChunkKind::Events; });
  state->index.chunks.shrink_to_fit();
  state->readAllMetadata();
  state->countEvents();
  state->noteForeignChunks();
  return TraceReader(std::move(state));
}

const std::vector<ProcessStart> &TraceReader::processes() const { return state_->starts; }
const std::vector<ProcessEnd> &TraceReader::processEnds() const { return state_->ends; }
const std::vector<StreamAccount> &TraceReader::streams() const { return state_->accounts; }
const std::vector<std::string> &TraceReader::damage() const { return state_->index.damage; }
uint64_t TraceReader::eventCount() const { return state_->events; }
bool TraceReader::closed() const { return state_->index.closed; }

uint64_t TraceReader::storedUntil(uint32_t process, uint32_t stream) const {
  const StreamPlan *plan = state_->planOf(process, stream);
  return plan ? plan->stored_until : 0;
}

uint64_t TraceReader::storedEvents(uint32_t process, uint32_t stream) const {
  const StreamPlan *plan = state_->planOf(process, stream);
  return plan ? plan->events : 0;
}

uint64_t TraceReader::definitionBytes(uint32_t process) const {
  const auto found = state_->definition_bytes.find(process);
  return found == state_->definition_bytes.end() ? 0 : found->second;
}

Result<void> TraceReader::forEachDefinitions(const std::function<void(uint32_t, std::span<const std::byte>)> &f) const {
  for (const ChunkPlace &place : state_->index.chunks)
    if (place.header.kind == ChunkKind::Definitions && state_->load(place))
      f(place.header.process, std::as_bytes(std::span<const uint8_t>(state_->payload)));
  return {};
}

// Entries one behind the other, up to the end of the payload. One that makes no sense ends them.
template <class Entry> static void readEntries(ByteReader &bytes, std::vector<Entry> &entries) {
  while (bytes.left() > 0) {
    Entry entry{};
    visitMetadata(MetadataReader(bytes), entry);
    if (!bytes.failed())
      entries.push_back(entry);
  }
}

template <class F> void TraceReader::State::forEachPayload(ChunkKind kind, F &&f) {
  for (const ChunkPlace &place : index.chunks) {
    if (place.header.kind != kind || !load(place))
      continue;
    ByteReader bytes(payload);
    f(place.header.process, bytes);
    if (bytes.failed())
      noteDamage(place, "its fields make no sense");
  }
}

Result<void>
TraceReader::forEachCallers(const std::function<void(uint32_t, std::span<const TraceWriter::CallerEntry>)> &f) const {
  state_->forEachPayload(ChunkKind::Callers, [&](uint32_t process, ByteReader &bytes) {
    std::vector<TraceWriter::CallerEntry> entries;
    readEntries(bytes, entries);
    f(process, entries);
  });
  return {};
}

Result<void> TraceReader::forEachPaths(const std::function<void(uint32_t, std::span<const PathEntry>)> &f) const {
  for (const ChunkKind kind : {ChunkKind::PathsByNumber, ChunkKind::Paths})
    state_->forEachPayload(kind, [&](uint32_t process, ByteReader &bytes) {
      const uint64_t first = std::min<uint64_t>(bytes.varint(), UINT32_MAX);
      std::vector<PathEntry> entries;
      readEntries(bytes, entries);
      entries.resize(std::min<uint64_t>(entries.size(), UINT32_MAX - first)); // those with a number
      for (size_t i = 0; i < entries.size(); ++i) {
        entries[i].number = static_cast<uint32_t>(first + i);
        if (kind == ChunkKind::Paths)
          entries[i].parent = entries[i].number - entries[i].parent;
      }
      f(process, entries);
    });
  return {};
}

namespace {

constexpr uint64_t kMostPlaces = 10'000; // of functions inlined into each other

NamedAddress readNamed(ByteReader &bytes) {
  NamedAddress named{bytes.varint(), {}, {}};
  const uint64_t places = bytes.varint();
  if (places > kMostPlaces)
    bytes.fail();
  for (uint64_t i = 0; i < places && !bytes.failed(); ++i) {
    CodePlace place;
    place.function = bytes.text();
    place.file = bytes.text();
    place.line = static_cast<uint32_t>(bytes.varint());
    place.column = static_cast<uint32_t>(bytes.varint());
    named.places.push_back(std::move(place));
  }
  named.callee = bytes.text();
  return named;
}

} // namespace

Result<void> TraceReader::forEachNames(const std::function<void(const ImageNames &)> &f) const {
  state_->forEachPayload(ChunkKind::Names, [&](uint32_t, ByteReader &bytes) {
    ImageNames names;
    names.image.path = bytes.text();
    const std::string id(bytes.text());
    names.image.build_id.resize(id.size());
    std::memcpy(names.image.build_id.data(), id.data(), id.size());
    while (bytes.left() > 0 && !bytes.failed())
      names.addresses.push_back(readNamed(bytes));
    if (bytes.failed() && !names.addresses.empty())
      names.addresses.pop_back();
    f(names);
  });
  return {};
}

Result<void> TraceReader::mergeEvents(const std::function<bool(std::span<const StreamEvent>)> &f, uint64_t begin_ns,
                                      uint64_t end_ns) const {
  ChunkOpener opener(state_->file,
                     [&](const ChunkPlace &place, const std::string &what) { state_->noteDamage(place, what); });
  mergeStreams(state_->plans, {begin_ns, end_ns}, opener, f);
  return {};
}

} // namespace msleaks::analysis
