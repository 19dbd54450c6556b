#include "analysis/trace/trace_reader.h"

#include "analysis/trace/checkpoint.h"
#include "analysis/trace/event_merge.h"
#include "analysis/trace/event_totals.h"
#include "analysis/trace/meaning.h"
#include "analysis/trace/process_records.h"
#include "analysis/trace/read_ahead.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <utility>

namespace msleaks::analysis::inline trace {

struct TraceReader::State {
  explicit State(InputFile opened) : file(std::move(opened)) {}

  Result<void> read();
  void takeIndex(ChunkIndex index);
  void planAllEvents(const std::vector<ChunkPlace> &chunks);
  void readRecords();
  void noteForeignChunks();
  std::vector<ChunkPlace> chunksOf(const LeafPlace &leaf);
  // Calls f(place) for each chunk of these kinds, in file order. `kinds` does not contain events.
  template <class F> void forEachChunk(ChunkKinds kinds, F &&f);
  template <class F> void forEachChunkFromEnd(ChunkKinds kinds, F &&f);
  // Calls f(place, payload) for each of these chunks whose payload can be read.
  template <class F> void forEachPayload(ChunkKinds kinds, F &&f);
  // The same with a reader of the payload. If the payload makes no sense, notes the damage.
  template <class F> void forEachMeaning(ChunkKinds kinds, F &&f);
  // Reads chunks of pointers, and the chunk of the map after them.
  std::shared_ptr<const PointedMemory> readPointed(const std::vector<ChunkPlace> &places);
  const StreamTotals *totalsOf(uint32_t process, uint32_t stream) const;

  InputFile file;
  bool closed = false;
  DamageNotes damage;
  std::vector<ChunkPlace> others;      // chunks other than events, if no index of two levels lists them
  std::vector<LeafPlace> other_leaves; // the leaves of these chunks, if such an index exists
  EventLeaves events;
  uint64_t event_count = 0;
  std::vector<StreamTotals> streams; // by process and stream
  std::map<uint32_t, uint64_t> definition_bytes;
  std::vector<CheckpointPlace> checkpoints;
  std::vector<ProcessStart> starts;
  std::vector<ProcessEnd> ends;
};

// Visits the chunks in reverse order, so that the first account of a stream is its latest one.
template <class F> void TraceReader::State::forEachChunkFromEnd(ChunkKinds kinds, F &&f) {
  const auto give = [&](const ChunkPlace &place) {
    if ((kindBit(place.header.kind) & kinds) != 0)
      f(place);
  };
  for (auto leaf = other_leaves.rbegin(); leaf != other_leaves.rend(); ++leaf)
    if ((leaf->kinds & kinds) != 0) {
      const std::vector<ChunkPlace> chunks = chunksOf(*leaf);
      std::for_each(chunks.rbegin(), chunks.rend(), give);
    }
  std::for_each(others.rbegin(), others.rend(), give);
}

std::vector<ChunkPlace> TraceReader::State::chunksOf(const LeafPlace &leaf) {
  std::vector<std::string> notes;
  auto chunks = readLeaf(file, leaf, notes);
  if (!chunks)
    notes.push_back(chunks.error().message);
  damage.add(leaf.offset, notes);
  return chunks ? std::move(*chunks) : std::vector<ChunkPlace>{};
}

template <class F> void TraceReader::State::forEachChunk(ChunkKinds kinds, F &&f) {
  const auto give = [&](const ChunkPlace &place) {
    if ((kindBit(place.header.kind) & kinds) != 0)
      f(place);
  };
  std::for_each(others.begin(), others.end(), give);
  for (const LeafPlace &leaf : other_leaves)
    if ((leaf.kinds & kinds) != 0)
      for (const ChunkPlace &place : chunksOf(leaf))
        give(place);
}

template <class F> void TraceReader::State::forEachPayload(ChunkKinds kinds, F &&f) {
  PayloadReader payloads(file);
  std::vector<uint8_t> payload;
  forEachChunk(kinds, [&](const ChunkPlace &place) {
    if (const Result<void> read = payloads.read(place.header, place.offset, payload))
      f(place, std::span<const uint8_t>(payload));
    else
      damage.add(place, read.error().message);
  });
}

void TraceReader::State::planAllEvents(const std::vector<ChunkPlace> &chunks) {
  EventPlan plan = planEvents(chunks, file);
  events = EventLeaves(std::move(plan.chunks));
  streams = std::move(plan.streams);
}

void TraceReader::State::takeIndex(ChunkIndex index) {
  closed = index.closed;
  damage.add(index.damage);
  if (!index.root) {
    planAllEvents(index.chunks);
    for (const ChunkPlace &place : index.chunks)
      if (place.header.kind == ChunkKind::Definitions)
        definition_bytes[place.header.process] += place.header.raw_bytes;
    std::erase_if(index.chunks, [](const ChunkPlace &place) { return place.header.kind == ChunkKind::Events; });
    others.assign(index.chunks.begin(), index.chunks.end()); // frees the memory of erased chunks
    return;
  }
  IndexRoot &root = *index.root;
  for (const DefinitionTotals &totals : root.definition_bytes)
    definition_bytes[totals.process] = totals.bytes;
  checkpoints = std::move(root.checkpoints);
  std::vector<ChunkPlace> repeated;
  const bool plan = std::any_of(root.streams.begin(), root.streams.end(), [](const auto &of) { return of.repeated; });
  for (const LeafPlace &leaf : root.leaves)
    if ((leaf.kinds & kindBit(ChunkKind::Events)) == 0)
      other_leaves.push_back(leaf);
    else if (plan)
      for (const ChunkPlace &place : chunksOf(leaf))
        repeated.push_back(place);
  if (plan)
    return planAllEvents(repeated);
  events = EventLeaves(root);
  streams = std::move(root.streams);
}

void TraceReader::State::readRecords() {
  ProcessRecords records;
  forEachPayload(ProcessRecords::kKinds, [&](const ChunkPlace &place, std::span<const uint8_t> payload) {
    records.take(place, payload, damage);
  });
  starts = records.starts();
  ends = records.ends();
}

void TraceReader::State::noteForeignChunks() {
  uint64_t foreign = 0;
  forEachChunk(kForeignKinds, [&](const ChunkPlace &) { ++foreign; });
  if (foreign > 0)
    damage.add({fmt::format("{} chunks of a kind that this version does not know were passed over", foreign)});
}

Result<void> TraceReader::State::read() {
  takeIndex(MSL_TRY(readIndex(file)));
  for (const StreamTotals &totals : streams)
    event_count += totals.events;
  readRecords();
  noteForeignChunks();
  return {};
}

// Returns null for a stream without events.
const StreamTotals *TraceReader::State::totalsOf(uint32_t process, uint32_t stream) const {
  const auto wanted = std::pair(process, stream);
  const auto at =
      std::lower_bound(streams.begin(), streams.end(), wanted, [](const StreamTotals &totals, const auto &key) {
        return std::pair(totals.process, totals.stream) < key;
      });
  return at != streams.end() && std::pair(at->process, at->stream) == wanted ? &*at : nullptr;
}

TraceReader::TraceReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
TraceReader::TraceReader(TraceReader &&) noexcept = default;
TraceReader &TraceReader::operator=(TraceReader &&) noexcept = default;
TraceReader::~TraceReader() = default;

Result<TraceReader> TraceReader::open(const std::filesystem::path &path) {
  auto file = MSL_TRY(InputFile::open(path));
  auto state = std::make_unique<State>(std::move(file));
  MSL_TRY(state->read());
  return TraceReader(std::move(state));
}

const std::vector<ProcessStart> &TraceReader::processes() const { return state_->starts; }
const std::vector<ProcessEnd> &TraceReader::processEnds() const { return state_->ends; }
std::vector<std::string> TraceReader::damage() const { return state_->damage.list(); }
uint64_t TraceReader::eventCount() const { return state_->event_count; }
bool TraceReader::closed() const { return state_->closed; }

uint64_t TraceReader::storedUntil(uint32_t process, uint32_t stream) const {
  const StreamTotals *totals = state_->totalsOf(process, stream);
  return totals ? totals->stored_until : 0;
}

uint64_t TraceReader::storedEvents(uint32_t process, uint32_t stream) const {
  const StreamTotals *totals = state_->totalsOf(process, stream);
  return totals ? totals->events : 0;
}

void TraceReader::forEachAccount(const std::function<void(const StreamAccount &)> &f) const {
  State &state = *state_;
  PayloadReader payloads(state.file);
  std::vector<uint8_t> payload;
  std::vector<bool> known(state.streams.size());
  std::set<std::pair<uint32_t, uint32_t>> known_without_events;
  const auto isNew = [&](uint32_t process, uint32_t stream) {
    const StreamTotals *totals = state.totalsOf(process, stream);
    if (!totals)
      return known_without_events.emplace(process, stream).second;
    const auto number = static_cast<size_t>(totals - state.streams.data());
    const bool is_new = !known[number];
    known[number] = true;
    return is_new;
  };
  state.forEachChunkFromEnd(kindBit(ChunkKind::StreamAccount), [&](const ChunkPlace &place) {
    if (const Result<void> read = payloads.read(place.header, place.offset, payload); !read)
      return state.damage.add(place, read.error().message);
    const auto account = readAccount(place, payload, state.damage);
    if (account && isNew(account->process, account->stream))
      f(*account);
  });
}

uint64_t TraceReader::definitionBytes(uint32_t process) const {
  const auto found = state_->definition_bytes.find(process);
  return found == state_->definition_bytes.end() ? 0 : found->second;
}

Result<void> TraceReader::forEachDefinitions(const std::function<void(uint32_t, std::span<const std::byte>)> &f) const {
  state_->forEachPayload(kindBit(ChunkKind::Definitions),
                         [&](const ChunkPlace &place, std::span<const uint8_t> payload) {
                           f(place.header.process, std::as_bytes(payload));
                         });
  return {};
}

template <class F> void TraceReader::State::forEachMeaning(ChunkKinds kinds, F &&f) {
  forEachPayload(kinds, [&](const ChunkPlace &place, std::span<const uint8_t> payload) {
    ByteReader bytes(payload);
    f(place.header.kind, place.header.process, bytes);
    if (bytes.failed())
      damage.add(place, "its fields make no sense");
  });
}

Result<void>
TraceReader::forEachCallers(const std::function<void(uint32_t, std::span<const TraceWriter::CallerEntry>)> &f) const {
  state_->forEachMeaning(kindBit(ChunkKind::Callers),
                         [&](ChunkKind, uint32_t process, ByteReader &payload) { f(process, readCallers(payload)); });
  return {};
}

Result<void> TraceReader::forEachPaths(const std::function<void(uint32_t, std::span<const PathEntry>)> &f) const {
  state_->forEachMeaning(
      kindBit(ChunkKind::Paths) | kindBit(ChunkKind::PathsByNumber),
      [&](ChunkKind kind, uint32_t process, ByteReader &payload) { f(process, readPaths(kind, payload)); });
  return {};
}

Result<void> TraceReader::forEachResident(const std::function<void(std::span<const ResidentSample>)> &f) const {
  state_->forEachMeaning(kindBit(ChunkKind::Resident) | kindBit(ChunkKind::ResidentOfFiles),
                         [&](ChunkKind kind, uint32_t, ByteReader &payload) { f(readResident(kind, payload)); });
  return {};
}

Result<void> TraceReader::forEachSharing(const std::function<void(std::span<const SharingSample>)> &f) const {
  state_->forEachMeaning(kindBit(ChunkKind::Sharing),
                         [&](ChunkKind, uint32_t, ByteReader &payload) { f(readSharing(payload)); });
  return {};
}

Result<void> TraceReader::forEachNames(const std::function<void(const ImageNames &)> &f) const {
  state_->forEachMeaning(kindBit(ChunkKind::Names),
                         [&](ChunkKind, uint32_t, ByteReader &payload) { f(readNames(payload)); });
  return {};
}

std::shared_ptr<const PointedMemory> TraceReader::State::readPointed(const std::vector<ChunkPlace> &places) {
  PayloadReader payloads(file);
  std::vector<uint8_t> payload;
  PointerAssembly assembly;
  for (const ChunkPlace &place : places) {
    if (const Result<void> read = payloads.read(place.header, place.offset, payload); !read) {
      damage.add(place, read.error().message);
      continue;
    }
    if (auto memory = assembly.take(place.header, payload))
      return memory;
    if (place.header.kind == ChunkKind::PointerMap)
      damage.add(place, "its fields make no sense");
  }
  return nullptr;
}

Result<void> TraceReader::forEachPointedPlace(const std::function<void(uint64_t, ReadPointed)> &f) const {
  std::map<uint32_t, std::vector<ChunkPlace>> gathered; // by process; a map follows its chunks of pointers
  state_->forEachChunk(kindBit(ChunkKind::Pointers) | kindBit(ChunkKind::PointerMap), [&](const ChunkPlace &place) {
    std::vector<ChunkPlace> &places = gathered[place.header.process];
    places.push_back(place);
    if (place.header.kind == ChunkKind::PointerMap)
      f(place.header.first_time_ns,
        [state = state_.get(), of = std::exchange(places, {})] { return state->readPointed(of); });
  });
  return {};
}

Result<void>
TraceReader::forEachPointedMemory(const std::function<void(std::shared_ptr<const PointedMemory>)> &f) const {
  return forEachPointedPlace([&](uint64_t, const ReadPointed &read) {
    if (auto memory = read())
      f(std::move(memory));
  });
}

const std::vector<CheckpointPlace> &TraceReader::checkpoints() const { return state_->checkpoints; }

Result<Checkpoint> TraceReader::checkpoint(const CheckpointPlace &place) const {
  return readCheckpoint(state_->file, place);
}

EventCursor TraceReader::events(const TimeWindow &window, Reading reading) const {
  std::unique_ptr<EventSource> source =
      std::make_unique<LeafCursor>(state_->events, state_->file, state_->damage, window);
  if (reading == Reading::Ahead && ReadAhead::worthwhile())
    source = std::make_unique<ReadAhead>(std::move(source));
  return EventCursor(std::move(source));
}

} // namespace msleaks::analysis::inline trace
