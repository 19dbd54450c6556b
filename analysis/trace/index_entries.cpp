#include "analysis/trace/index_entries.h"

#include <fmt/format.h>
#include <type_traits>

namespace msleaks::analysis::inline trace {

// Lists the fields of a header that vary; the same list writes and reads an entry.
template <class Header, class F> static void visitHeader(Header &header, F &&f) {
  f(header.kind);
  f(header.codec);
  f(header.process);
  f(header.stream);
  f(header.events);
  f(header.first_position);
  f(header.slots);
  f(header.raw_bytes);
  f(header.stored_bytes);
}

void EntryWriter::add(const ChunkPlace &place) {
  entries_.varint(place.offset - previous_end_);
  visitHeader(place.header, [&](auto value) { entries_.varint(static_cast<uint64_t>(value)); });
  entries_.varint(zigzag(place.header.first_time_ns - previous_time_));
  entries_.varint(place.header.last_time_ns - place.header.first_time_ns);
  entries_.fixed(place.header.payload_checksum);
  previous_end_ = place.end();
  previous_time_ = place.header.first_time_ns;
}

bool EntryReader::read(std::span<const uint8_t> payload, std::vector<ChunkPlace> &chunks) {
  ByteReader entries(payload);
  while (entries.left() > 0) {
    ChunkPlace place{};
    place.offset = end_ + entries.varint();
    visitHeader(place.header,
                [&](auto &value) { value = static_cast<std::remove_reference_t<decltype(value)>>(entries.varint()); });
    place.header.first_time_ns = time_ + unzigzag(entries.varint());
    place.header.last_time_ns = place.header.first_time_ns + entries.varint();
    place.header.payload_checksum = entries.fixed<uint64_t>();
    const bool inside = place.offset >= end_ && place.offset >= sizeof(FileHeader) && place.offset < file_end_ &&
                        place.end() <= file_end_;
    if (entries.failed() || !inside || !plausibleSizes(place.header))
      return false;
    end_ = place.end();
    time_ = place.header.first_time_ns;
    chunks.push_back(place);
  }
  return true;
}

void DamageNotes::add(const std::vector<std::string> &notes) {
  const std::scoped_lock held(lock_);
  notes_.insert(notes_.end(), notes.begin(), notes.end());
}

void DamageNotes::add(const ChunkPlace &place, const std::string &what) {
  const ChunkHeader &header = place.header;
  std::string which = fmt::format("{} chunk at byte {}", nameOf(header.kind), place.offset);
  if (header.kind == ChunkKind::Events)
    which += fmt::format(" (process {}, stream {}, {} events)", header.process, header.stream, header.events);
  add(place.offset, {fmt::format("{}: {}", which, what)});
}

void DamageNotes::add(uint64_t offset, const std::vector<std::string> &notes) {
  const std::scoped_lock held(lock_);
  if (!notes.empty() && known_.insert(offset).second)
    notes_.insert(notes_.end(), notes.begin(), notes.end());
}

std::vector<std::string> DamageNotes::list() const {
  const std::scoped_lock held(lock_);
  return notes_;
}

} // namespace msleaks::analysis::inline trace
