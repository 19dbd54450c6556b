#include "analysis/collect/stored_session.h"

#include <algorithm>

namespace msleaks::analysis::inline collect {

StoredSession::Entry *StoredSession::find(const ArenaFacts &facts) {
  for (auto &[number, entry] : processes)
    if (entry.start.pid == facts.pid && entry.start.time_ns == facts.attach_ns)
      return &entry;
  return nullptr;
}

Result<StoredSession> readStored(const TraceReader &reader) {
  StoredSession session;
  for (const ProcessStart &start : reader.processes()) {
    session.processes[start.process].start = start;
    session.last_process = std::max(session.last_process, start.process);
  }
  for (const ProcessEnd &end : reader.processEnds())
    session.processes[end.process].end = end;
  reader.forEachAccount([&](const StreamAccount &account) {
    session.processes[account.process].stored.streams[account.stream].account = account;
  });
  session.processes.erase(kSessionProcess);
  for (auto &[number, entry] : session.processes)
    entry.stored.definition_bytes = reader.definitionBytes(number);
  auto read = reader.forEachCallers([&](uint32_t process, std::span<const TraceWriter::CallerEntry> entries) {
    for (const auto &entry : entries)
      session.processes[process].stored.callers.push_back(entry.index);
  });
  if (!read)
    return tl::make_unexpected(read.error());
  read = reader.forEachPaths([&](uint32_t process, std::span<const PathEntry> entries) {
    uint32_t &count = session.processes[process].stored.path_count;
    for (const PathEntry &entry : entries)
      count = std::max(count, entry.number + 1);
  });
  if (!read)
    return tl::make_unexpected(read.error());
  return session;
}

Result<StoredTrace> openStored(const std::filesystem::path &file) {
  auto before = MSL_TRY(TraceReader::open(file));
  auto stored = MSL_TRY(readStored(before));
  auto trace = MSL_TRY(TraceWriter::append(file));
  return StoredTrace{std::move(before), std::move(stored), std::move(trace)};
}

void findPositions(StoredProcess &stored, uint32_t process, const ArenaReader &arena, const TraceReader &reader) {
  for (uint32_t index = 0; index < arena.ringCount(); ++index)
    if (const auto ring = arena.openRing(index))
      stored.streams[ring->stream()];
  for (auto &[number, stream] : stored.streams) {
    stream.until_position = reader.storedUntil(process, number);
    stream.events = reader.storedEvents(process, number);
  }
}

} // namespace msleaks::analysis::inline collect
