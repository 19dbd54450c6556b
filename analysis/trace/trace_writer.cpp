#include "analysis/trace/trace_writer.h"

#include "analysis/trace/checkpoint.h"
#include "analysis/trace/event_codec.h"
#include "analysis/trace/index_builder.h"
#include "analysis/trace/metadata.h"
#include "analysis/trace/pointers.h"

#include <fmt/format.h>
#include <utility>

namespace msleaks::analysis::inline trace {

struct TraceWriter::State {
  explicit State(AppendFile opened) : file(std::move(opened)) {}

  // Packs a chunk after the chunks that are not written yet. Returns its future offset in the file.
  uint64_t pack(const ChunkHeader &header, std::span<const uint8_t> raw) {
    const uint64_t offset = file.size() + pending.size();
    waiting.push_back({offset, packChunk(header, raw, compressor, pending)});
    return offset;
  }
  std::vector<uint64_t> packLeaves(const std::vector<const IndexBuilder::OpenLeaf *> &leaves);
  // Writes all packed chunks by one write. Only then does the index contain them.
  Result<void> flush();
  template <class Metadata> Result<void> write(ChunkHeader header, const Metadata &metadata) {
    raw.clear();
    visitMetadata(MetadataWriter(raw), metadata);
    return writeRaw(header, raw.written());
  }
  Result<void> writeRaw(const ChunkHeader &header, std::span<const uint8_t> payload);
  template <class Sample> Result<void> writeSamples(ChunkKind, std::span<const Sample>);

  AppendFile file;
  IndexBuilder index;
  Compressor compressor;
  EventEncoder encoder;
  ByteWriter raw, pending;
  std::vector<ChunkPlace> waiting;
};

std::vector<uint64_t> TraceWriter::State::packLeaves(const std::vector<const IndexBuilder::OpenLeaf *> &leaves) {
  std::vector<uint64_t> offsets;
  for (const IndexBuilder::OpenLeaf *leaf : leaves)
    offsets.push_back(
        pack({.kind = ChunkKind::Index, .stream = static_cast<uint32_t>(IndexLevel::Leaf)}, leaf->entries.written()));
  return offsets;
}

// Writes full leaves of the index together with the next chunk: so no write of a leaf can fail by itself.
Result<void> TraceWriter::State::flush() {
  const std::vector<uint64_t> leaves = packLeaves(index.fullLeaves());
  const Result<void> appended = file.append(pending.written());
  if (appended) {
    index.stored(leaves);
    for (const ChunkPlace &place : waiting)
      index.add(place);
  }
  pending.clear();
  waiting.clear();
  return appended;
}

Result<void> TraceWriter::State::writeRaw(const ChunkHeader &header, std::span<const uint8_t> payload) {
  if (payload.size() > maxRawBytes(header.kind))
    return fail(fmt::format("'{}': {} bytes of {} at once, at most {} fit a chunk", file.name(), payload.size(),
                            nameOf(header.kind), maxRawBytes(header.kind)),
                ExitStatus::OwnFault);
  pack(header, payload);
  return flush();
}

TraceWriter::TraceWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
TraceWriter::TraceWriter(TraceWriter &&) noexcept = default;
TraceWriter &TraceWriter::operator=(TraceWriter &&) noexcept = default;
TraceWriter::~TraceWriter() = default;

Result<TraceWriter> TraceWriter::create(const std::filesystem::path &path, int folder) {
  auto file = MSL_TRY(AppendFile::create(path, folder));
  auto state = std::make_unique<State>(std::move(file));
  state->pending.fixed(makeFileHeader());
  MSL_TRY(state->flush());
  return TraceWriter(std::move(state));
}

Result<TraceWriter> TraceWriter::append(const std::filesystem::path &path) {
  auto file = MSL_TRY(AppendFile::reopen(path));
  const auto content = MSL_TRY(InputFile::open(path));
  const auto found = MSL_TRY(readIndex(content));
  if (found.end < file.size())
    MSL_TRY(file.cut(found.end));
  auto state = std::make_unique<State>(std::move(file));
  state->index = IndexBuilder(found);
  return TraceWriter(std::move(state));
}

Result<void> TraceWriter::processStart(const ProcessStart &start) {
  return state_->write({.kind = ChunkKind::ProcessStart,
                        .process = start.process,
                        .first_time_ns = start.time_ns,
                        .last_time_ns = start.time_ns},
                       start);
}

Result<void> TraceWriter::processEnd(const ProcessEnd &end) {
  return state_->write({.kind = ChunkKind::ProcessEnd,
                        .process = end.process,
                        .first_time_ns = end.time_ns,
                        .last_time_ns = end.time_ns},
                       end);
}

Result<void> TraceWriter::streamAccount(const StreamAccount &account) {
  return state_->write({.kind = ChunkKind::StreamAccount, .process = account.process, .stream = account.stream},
                       account);
}

Result<void> TraceWriter::definitions(uint32_t process, std::span<const std::byte> records) {
  return state_->writeRaw({.kind = ChunkKind::Definitions, .process = process},
                          {reinterpret_cast<const uint8_t *>(records.data()), records.size()});
}

Result<void> TraceWriter::callers(uint32_t process, std::span<const CallerEntry> entries) {
  State &state = *state_;
  state.raw.clear();
  for (const CallerEntry &entry : entries)
    visitMetadata(MetadataWriter(state.raw), entry);
  return state.writeRaw({.kind = ChunkKind::Callers, .process = process}, state.raw.written());
}

Result<void> TraceWriter::paths(uint32_t process, std::span<const PathEntry> entries) {
  if (entries.empty())
    return {};
  State &state = *state_;
  state.raw.clear();
  state.raw.varint(entries.front().number);
  for (PathEntry entry : entries) {
    entry.parent = entry.number - entry.parent; // mostly 1, because a path is stored from its outermost call on
    visitMetadata(MetadataWriter(state.raw), entry);
  }
  return state.writeRaw({.kind = ChunkKind::Paths, .process = process}, state.raw.written());
}

template <class Sample> Result<void> TraceWriter::State::writeSamples(ChunkKind kind, std::span<const Sample> samples) {
  if (samples.empty())
    return {};
  raw.clear();
  uint64_t last_ns = 0;
  for (Sample sample : samples) {
    sample.time_ns -= std::exchange(last_ns, sample.time_ns);
    visitMetadata(MetadataWriter(raw), sample);
  }
  return writeRaw({.kind = kind,
                   .process = kSessionProcess,
                   .first_time_ns = samples.front().time_ns,
                   .last_time_ns = samples.back().time_ns},
                  raw.written());
}

Result<void> TraceWriter::resident(std::span<const ResidentSample> samples) {
  return state_->writeSamples(ChunkKind::Resident, samples);
}

Result<void> TraceWriter::sharing(std::span<const SharingSample> samples) {
  return state_->writeSamples(ChunkKind::Sharing, samples);
}

namespace {

void write(ByteWriter &to, const ImageFile &image) {
  to.text(image.path);
  to.text({reinterpret_cast<const char *>(image.build_id.data()), image.build_id.size()});
}

void write(ByteWriter &to, const NamedAddress &named) {
  to.varint(named.address);
  to.varint(named.places.size());
  for (const CodePlace &place : named.places) {
    to.text(place.function);
    to.text(place.file);
    to.varint(place.line);
    to.varint(place.column);
  }
  to.text(named.callee);
}

} // namespace

Result<void> TraceWriter::names(const ImageNames &names) {
  constexpr size_t kEnough = kMaxNamesRawBytes / 2;
  State &state = *state_;
  state.raw.clear();
  for (const NamedAddress &named : names.addresses) {
    if (state.raw.size() == 0)
      write(state.raw, names.image);
    write(state.raw, named);
    if (state.raw.size() < kEnough && &named != &names.addresses.back())
      continue;
    MSL_TRY(state.writeRaw({.kind = ChunkKind::Names, .process = kSessionProcess}, state.raw.written()));
    state.raw.clear();
  }
  return {};
}

Result<void> TraceWriter::pointers(uint32_t process, std::span<const uint8_t> packed) {
  return state_->writeRaw({.kind = ChunkKind::Pointers, .process = process}, packed);
}

Result<void> TraceWriter::pointerMap(const PointerMap &map) {
  State &state = *state_;
  state.raw.clear();
  writePointerMap(map, state.raw);
  return state.writeRaw({.kind = ChunkKind::PointerMap,
                         .process = map.process,
                         .first_time_ns = map.time_ns,
                         .last_time_ns = map.time_ns},
                        state.raw.written());
}

Result<void> TraceWriter::events(const EventBatch &batch) {
  State &state = *state_;
  std::span<const abi::Slot> rest = batch.slots;
  uint64_t position = batch.first_position;
  while (!rest.empty()) {
    const EventRun run = measureRun(rest);
    if (run.events > 0)
      state.pack({.kind = ChunkKind::Events,
                  .process = batch.process,
                  .stream = batch.stream,
                  .events = run.events,
                  .first_position = position,
                  .slots = run.slots,
                  .first_time_ns = run.first_time_ns,
                  .last_time_ns = run.last_time_ns},
                 state.encoder.encode(rest, run));
    // Skips slots that are no event of a known kind: a program may overwrite its ring by mistake.
    const uint32_t passed = run.events > 0 ? run.slots : 1;
    rest = rest.subspan(passed);
    position += passed;
  }
  return state.flush();
}

Result<void> TraceWriter::completeUntil(uint64_t time_ns) {
  return state_->writeRaw({.kind = ChunkKind::Index,
                           .stream = static_cast<uint32_t>(IndexLevel::Mark),
                           .first_time_ns = time_ns,
                           .last_time_ns = time_ns},
                          {});
}

Result<void> TraceWriter::checkpoint(const PackedCheckpoint &checkpoint) {
  State &state = *state_;
  if (checkpoint.time_ns <= state.index.lastCheckpointNs())
    return {};
  const CheckpointPlace place{state.file.size(), checkpoint.time_ns};
  MSL_TRY(state.file.append(checkpoint.chunk));
  state.index.addCheckpoint(place);
  return {};
}

// Leaves out a root that is too large for a chunk: the trailer alone says that the session ended in order.
Result<void> TraceWriter::close() {
  State &state = *state_;
  state.pending.clear(); // the caller may call close() again after an error
  ByteWriter root, trailer;
  writeRoot(state.index.root(state.packLeaves(state.index.allLeaves())), root);
  trailer.fixed(state.file.size() + state.pending.size());
  if (root.size() <= maxRawBytes(ChunkKind::Index))
    state.pack({.kind = ChunkKind::Index, .stream = static_cast<uint32_t>(IndexLevel::Root)}, root.written());
  state.pack({.kind = ChunkKind::Trailer}, trailer.written());
  MSL_TRY(state.file.append(state.pending.written()));
  state.file.release();
  return {};
}

uint64_t TraceWriter::bytesWritten() const { return state_->file.size(); }

} // namespace msleaks::analysis::inline trace
