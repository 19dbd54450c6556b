#include "analysis/trace/trace_follower.h"

#include "analysis/trace/chunk_index.h"
#include "analysis/trace/event_merge.h"
#include "analysis/trace/meaning.h"
#include "analysis/trace/process_records.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace msleaks::analysis::inline trace {

struct TraceFollower::State {
  State(InputFile opened, TraceListener told, FollowedEvents wanted)
      : file(std::move(opened)), listener(std::move(told)), events(wanted), walk(file, sizeof(FileHeader), 0),
        payloads(file), opener(file, damage), merge({}, opener) {}

  Result<std::span<const StreamEvent>> next();
  Result<bool> grow();
  Result<bool> readUntilMark();
  void take(const ChunkPlace &place);
  void tell(const ChunkPlace &place);
  void tellPointers(const ChunkHeader &header);
  std::optional<uint64_t> limit() const { return closed || rest ? std::nullopt : std::optional(complete_until_ns); }

  InputFile file;
  TraceListener listener;
  FollowedEvents events;
  DamageNotes damage;
  ChunkWalk walk;
  PayloadReader payloads;
  std::vector<uint8_t> payload;
  StreamPositions positions;
  ChunkOpener opener;
  EventMerge merge;
  PointerAssembly pointers;
  std::optional<Error> failure;
  uint64_t complete_until_ns = 0, seen_bytes = 0;
  bool header_checked = false, closed = false, rest = false;
};

// Whether the file is longer than at the last look.
Result<bool> TraceFollower::State::grow() {
  MSL_TRY(file.lookAgain());
  if (file.size() < walk.position() && header_checked)
    return fail(fmt::format("'{}' was cut short, to {} bytes, while it was read up to byte {}", file.name(),
                            file.size(), walk.position()));
  if (file.size() < sizeof(FileHeader))
    return false;
  if (!header_checked && !MSL_TRY(checkFileHeader(file)))
    return fail(fmt::format("'{}' is not a trace of msleaks, or its header is damaged", file.name()));
  header_checked = true;
  walk.growTo(file.size());
  return std::exchange(seen_bytes, file.size()) < file.size();
}

// Reads up to the next mark that completes more events, because later chunks need not be in memory yet. Returns false
// at the end of the file.
Result<bool> TraceFollower::State::readUntilMark() {
  std::vector<std::string> notes;
  const uint64_t before_ns = complete_until_ns;
  bool more = true;
  while (more && complete_until_ns == before_ns) {
    const auto found = MSL_TRY(walk.nextWhole(notes));
    more = found.has_value();
    if (more)
      take(*found);
  }
  damage.add(notes);
  return more;
}

void TraceFollower::State::take(const ChunkPlace &place) {
  const ChunkHeader &header = place.header;
  closed = header.kind == ChunkKind::Trailer && place.end() == file.size();
  if (header.kind == ChunkKind::Events) {
    if (events == FollowedEvents::None)
      return;
    if (const auto chunk = positions.take(place))
      merge.add(*chunk);
  } else if (header.kind == ChunkKind::Index) {
    if (header.stream == static_cast<uint32_t>(IndexLevel::Mark))
      complete_until_ns = std::max(complete_until_ns, header.first_time_ns);
  } else if (header.kind != ChunkKind::Trailer && header.kind != ChunkKind::Names && !isResident(header.kind) &&
             header.kind <= kLastChunkKind) {
    tell(place);
  }
}

template <class Metadata, class F> static void tellIf(const std::optional<Metadata> &metadata, const F &f) {
  if (metadata && f)
    f(*metadata);
}

void TraceFollower::State::tellPointers(const ChunkHeader &header) {
  if (!listener.pointed_memory)
    return;
  if (auto memory = pointers.take(header, payload))
    listener.pointed_memory(std::move(memory));
}

void TraceFollower::State::tell(const ChunkPlace &place) {
  const uint32_t process = place.header.process;
  if (const Result<void> read = payloads.read(place.header, place.offset, payload); !read)
    return damage.add(place, read.error().message);
  if (PointerAssembly::takes(place.header.kind))
    return tellPointers(place.header);
  ByteReader bytes(payload);
  switch (place.header.kind) {
  case ChunkKind::ProcessStart:
    return tellIf(readStart(place, payload, damage), listener.start);
  case ChunkKind::ProcessEnd:
    return tellIf(readEnd(place, payload, damage), listener.end);
  case ChunkKind::StreamAccount:
    return tellIf(readAccount(place, payload, damage), listener.account);
  case ChunkKind::Definitions:
    if (listener.definitions)
      listener.definitions(process, std::as_bytes(std::span<const uint8_t>(payload)));
    return;
  case ChunkKind::Callers:
    if (listener.callers)
      listener.callers(process, readCallers(bytes));
    break;
  case ChunkKind::Paths:
  case ChunkKind::PathsByNumber:
    if (listener.paths)
      listener.paths(process, readPaths(place.header.kind, bytes));
    break;
  default:
    return;
  }
  if (bytes.failed())
    damage.add(place, "its fields make no sense");
}

Result<std::span<const StreamEvent>> TraceFollower::State::next() {
  for (bool more = true;;) {
    const auto events = merge.next(limit());
    if (!events.empty() || !more)
      return events;
    more = MSL_TRY(readUntilMark()) || MSL_TRY(grow());
  }
}

TraceFollower::TraceFollower(std::unique_ptr<State> state) : state_(std::move(state)) {}
TraceFollower::TraceFollower(TraceFollower &&) noexcept = default;
TraceFollower &TraceFollower::operator=(TraceFollower &&) noexcept = default;
TraceFollower::~TraceFollower() = default;

Result<TraceFollower> TraceFollower::open(const std::filesystem::path &path, TraceListener listener,
                                          FollowedEvents events) {
  auto file = MSL_TRY(InputFile::open(path));
  return TraceFollower(std::make_unique<State>(std::move(file), std::move(listener), events));
}

Result<std::span<const StreamEvent>> TraceFollower::next() {
  State &state = *state_;
  if (state.failure)
    return tl::make_unexpected(*state.failure);
  auto events = state.next();
  if (!events)
    state.failure = events.error();
  return events;
}

uint64_t TraceFollower::completeUntil() const { return state_->complete_until_ns; }
uint64_t TraceFollower::lateChunks() const { return state_->merge.lateChunks(); }
bool TraceFollower::closed() const { return state_->closed; }
void TraceFollower::takeRest() { state_->rest = true; }
std::vector<std::string> TraceFollower::damage() const { return state_->damage.list(); }

} // namespace msleaks::analysis::inline trace
