#include "analysis/trace/meaning.h"

#include "analysis/trace/metadata.h"

#include <algorithm>
#include <cstddef>

namespace msleaks::analysis::inline trace {
namespace {

// Reads one entry after another, up to the end of the payload, or up to an entry that makes no sense.
template <class Entry> void readEntries(ByteReader &payload, std::vector<Entry> &entries) {
  while (payload.left() > 0) {
    Entry entry{};
    visitMetadata(MetadataReader(payload), entry);
    if (!payload.failed())
      entries.push_back(entry);
  }
}

// In the file, each time is the difference to the one before.
template <class Sample> void addUpTimes(std::vector<Sample> &samples) {
  uint64_t time_ns = 0;
  for (Sample &sample : samples)
    sample.time_ns = time_ns += sample.time_ns;
}

constexpr uint64_t kMostPlaces = 10'000; // functions that are inlined into each other

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

std::vector<TraceWriter::CallerEntry> readCallers(ByteReader &payload) {
  std::vector<TraceWriter::CallerEntry> entries;
  readEntries(payload, entries);
  return entries;
}

std::vector<PathEntry> readPaths(ChunkKind kind, ByteReader &payload) {
  const uint64_t first = std::min<uint64_t>(payload.varint(), UINT32_MAX);
  std::vector<PathEntry> entries;
  readEntries(payload, entries);
  entries.resize(std::min<uint64_t>(entries.size(), UINT32_MAX - first)); // drops entries with too large numbers
  for (size_t i = 0; i < entries.size(); ++i) {
    entries[i].number = static_cast<uint32_t>(first + i);
    if (kind == ChunkKind::Paths)
      entries[i].parent = entries[i].number - entries[i].parent;
  }
  return entries;
}

std::vector<ResidentSample> readResident(ChunkKind kind, ByteReader &payload) {
  std::vector<ResidentSample> samples;
  if (kind == ChunkKind::Resident) {
    readEntries(payload, samples);
  } else {
    std::vector<ResidentOfFiles> old;
    readEntries(payload, old);
    samples.assign(old.begin(), old.end());
  }
  addUpTimes(samples);
  return samples;
}

std::vector<SharingSample> readSharing(ByteReader &payload) {
  std::vector<SharingSample> samples;
  readEntries(payload, samples);
  addUpTimes(samples);
  return samples;
}

ImageNames readNames(ByteReader &payload) {
  ImageNames names;
  names.image.path = payload.text();
  const std::string id(payload.text());
  for (const char byte : id)
    names.image.build_id.push_back(static_cast<std::byte>(byte));
  while (payload.left() > 0 && !payload.failed())
    names.addresses.push_back(readNamed(payload));
  if (payload.failed() && !names.addresses.empty())
    names.addresses.pop_back();
  return names;
}

} // namespace msleaks::analysis::inline trace
