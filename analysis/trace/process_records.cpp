#include "analysis/trace/process_records.h"

#include "analysis/trace/metadata.h"

namespace msleaks::analysis::inline trace {

// Reads the payload into `metadata`, whose fields from the header are already filled in.
template <class Metadata>
static std::optional<Metadata> read(const ChunkPlace &place, std::span<const uint8_t> payload, Metadata metadata,
                                    DamageNotes &damage) {
  ByteReader bytes(payload);
  visitMetadata(MetadataReader(bytes), metadata);
  if (!bytes.failed())
    return metadata;
  damage.add(place, "its fields make no sense");
  return std::nullopt;
}

std::optional<ProcessStart> readStart(const ChunkPlace &place, std::span<const uint8_t> payload, DamageNotes &damage) {
  ProcessStart start{};
  start.process = place.header.process;
  start.time_ns = place.header.first_time_ns;
  return read(place, payload, start, damage);
}

std::optional<ProcessEnd> readEnd(const ChunkPlace &place, std::span<const uint8_t> payload, DamageNotes &damage) {
  return read(place, payload, ProcessEnd{place.header.process, place.header.first_time_ns, -1, 0}, damage);
}

std::optional<StreamAccount> readAccount(const ChunkPlace &place, std::span<const uint8_t> payload,
                                         DamageNotes &damage) {
  StreamAccount account{};
  account.process = place.header.process;
  account.stream = place.header.stream;
  return read(place, payload, account, damage);
}

void ProcessRecords::take(const ChunkPlace &place, std::span<const uint8_t> payload, DamageNotes &damage) {
  if (place.header.kind == ChunkKind::ProcessStart) {
    if (auto start = readStart(place, payload, damage))
      starts_.insert_or_assign(start->process, std::move(*start));
  } else if (place.header.kind == ChunkKind::ProcessEnd) {
    if (auto end = readEnd(place, payload, damage))
      ends_.insert_or_assign(end->process, *end);
  }
}

} // namespace msleaks::analysis::inline trace
