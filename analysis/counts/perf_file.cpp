#include "analysis/counts/perf_file.h"

#include "analysis/counts/perf_records.h"
#include "analysis/trace/bytes.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <string_view>

namespace msleaks::analysis::profiles {
namespace {

constexpr std::string_view kMagic = "PERFILE2", kSwappedMagic = "2ELIFREP";
constexpr uint64_t kPipeHeaderBytes = 16;
constexpr uint64_t kMostPartBytes = 64 << 20; // limit for parts with names and ids, which are small
constexpr size_t kMostEvents = 1000;
constexpr uint64_t kFrequency = uint64_t{1} << 10, kIdsEverywhere = uint64_t{1} << 18; // flags of a perf_event_attr
constexpr uint64_t kLeastAttributeBytes = 64;
constexpr uint32_t kHardware = 0, kSoftware = 1;

// The bits of the file's features. Each feature of a file has a part after the records, in the order of the bits.
constexpr unsigned kBuildIds = 2, kEventNames = 12, kFeatures = 256;

constexpr const char *kHardwareNames[] = {
    "cycles",        "instructions", "cache-references",        "cache-misses",           "branches",
    "branch-misses", "bus-cycles",   "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles"};
constexpr const char *kSoftwareNames[] = {"cpu-clock",        "task-clock",       "page-faults",
                                          "context-switches", "cpu-migrations",   "minor-faults",
                                          "major-faults",     "alignment-faults", "emulation-faults"};

struct Part {
  uint64_t offset = 0, size = 0;
};

Part partOf(ByteReader &reader) {
  const auto offset = reader.fixed<uint64_t>();
  return {offset, reader.fixed<uint64_t>()};
}

struct Attribute {
  PerfEvent event;
  uint32_t type = 0;
  uint64_t config = 0;
};

// Reads the first fields of a perf_event_attr, which have the same places in all versions.
Attribute attributeOf(std::span<const uint8_t> bytes) {
  ByteReader reader(bytes);
  Attribute attribute;
  attribute.type = reader.fixed<uint32_t>();
  reader.fixed<uint32_t>(); // size of the attribute
  attribute.config = reader.fixed<uint64_t>();
  const auto period = reader.fixed<uint64_t>();
  attribute.event.fields = reader.fixed<uint64_t>();
  reader.fixed<uint64_t>(); // read_format
  const auto flags = reader.fixed<uint64_t>();
  attribute.event.period = (flags & kFrequency) != 0 ? 0 : period;
  attribute.event.ids_everywhere = (flags & kIdsEverywhere) != 0;
  return attribute;
}

std::string nameOf(const Attribute &attribute) {
  if (attribute.type == kHardware && attribute.config < std::size(kHardwareNames))
    return kHardwareNames[attribute.config];
  if (attribute.type == kSoftware && attribute.config < std::size(kSoftwareNames))
    return kSoftwareNames[attribute.config];
  return fmt::format("event {}:{:#x}", attribute.type, attribute.config);
}

class HeaderReader {
public:
  explicit HeaderReader(const InputFile &file) : file_(file) {}
  Result<PerfFile> read();

private:
  Result<std::vector<uint8_t>> bytesOf(Part, const char *what) const;
  void add(Attribute, std::span<const uint8_t> ids);
  Result<void> readAttributes(Part, uint64_t attribute_bytes);
  Result<void> readFeatures();
  Result<void> readEventNames(std::span<const uint8_t>);
  Result<void> readBuildIds(std::span<const uint8_t>);
  bool readBuildId(uint16_t misc, std::span<const uint8_t> body);
  Result<void> readPipe();
  bool onPipeRecord(const PerfRecordHeader &, std::span<const uint8_t> body);
  Result<void> checkEvents();

  const InputFile &file_;
  std::array<uint64_t, 4> features_{};
  std::vector<uint8_t> event_names_; // only in a file from a pipe
  PerfFile perf_;
};

Result<std::vector<uint8_t>> HeaderReader::bytesOf(Part part, const char *what) const {
  if (part.size > kMostPartBytes || part.offset > file_.size() || part.size > file_.size() - part.offset)
    return fail(fmt::format("its {} are cut short or damaged", what));
  std::vector<uint8_t> bytes(static_cast<size_t>(part.size));
  MSL_TRY(file_.readAll(part.offset, bytes));
  return bytes;
}

void HeaderReader::add(Attribute attribute, std::span<const uint8_t> ids) {
  attribute.event.name = nameOf(attribute);
  for (ByteReader left(ids); left.left() >= sizeof(uint64_t);)
    perf_.event_of_id[left.fixed<uint64_t>()] = static_cast<uint32_t>(perf_.events.size());
  perf_.events.push_back(std::move(attribute.event));
}

Result<void> HeaderReader::readAttributes(Part part, uint64_t attribute_bytes) {
  if (attribute_bytes < kLeastAttributeBytes + sizeof(Part))
    return fail("its events are cut short or damaged");
  const auto bytes = MSL_TRY(bytesOf(part, "events"));
  for (uint64_t at = 0; bytes.size() - at >= attribute_bytes; at += attribute_bytes) {
    const auto entry = std::span(bytes).subspan(static_cast<size_t>(at), static_cast<size_t>(attribute_bytes));
    ByteReader reader(entry.last(sizeof(Part)));
    const auto ids = MSL_TRY(bytesOf(partOf(reader), "ids of events"));
    add(attributeOf(entry), ids);
  }
  return {};
}

// Reads the names that the user gave the events, and the ids of the events. The entries are in the order of the events.
// Their names and ids replace the ones from the attributes.
Result<void> HeaderReader::readEventNames(std::span<const uint8_t> bytes) {
  ByteReader reader(bytes);
  const auto count = reader.fixed<uint32_t>(), attribute_bytes = reader.fixed<uint32_t>();
  for (uint32_t i = 0; i < count && !reader.failed(); ++i) {
    reader.bytes(attribute_bytes);
    const auto ids = reader.fixed<uint32_t>(), name_bytes = reader.fixed<uint32_t>();
    const auto name = reader.bytes(name_bytes);
    const auto id_bytes = reader.bytes(uint64_t{ids} * sizeof(uint64_t));
    if (reader.failed() || i >= perf_.events.size())
      return fail("its names of events are damaged");
    perf_.events[i].name.assign(reinterpret_cast<const char *>(name.data()),
                                strnlen(reinterpret_cast<const char *>(name.data()), name.size()));
    for (ByteReader left(id_bytes); left.left() > 0;)
      perf_.event_of_id[left.fixed<uint64_t>()] = i;
  }
  return reader.failed() ? fail("its names of events are damaged") : Result<void>();
}

// After the record's header come the pid, 20 bytes with the id, the number of bytes that the id uses, and the path.
bool HeaderReader::readBuildId(uint16_t misc, std::span<const uint8_t> body) {
  constexpr size_t kRoom = 20;
  constexpr uint16_t kSaysItsSize = 1 << 15;
  ByteReader reader(body);
  reader.fixed<uint32_t>();
  const auto id = reader.bytes(kRoom);
  const auto id_bytes = std::min<size_t>(reader.fixed<uint8_t>(), kRoom);
  reader.bytes(3);
  const auto path = reader.bytes(reader.left());
  if (reader.failed())
    return false;
  const auto *text = reinterpret_cast<const char *>(path.data());
  const auto *first = reinterpret_cast<const std::byte *>(id.data());
  perf_.build_ids[std::string(text, strnlen(text, path.size()))] = {
      first, first + ((misc & kSaysItsSize) != 0 ? id_bytes : kRoom)};
  return true;
}

Result<void> HeaderReader::readBuildIds(std::span<const uint8_t> bytes) {
  for (ByteReader reader(bytes); reader.left() >= sizeof(PerfRecordHeader);) {
    reader.fixed<uint32_t>();
    const auto misc = reader.fixed<uint16_t>(), size = reader.fixed<uint16_t>();
    if (size < sizeof(PerfRecordHeader) || size - sizeof(PerfRecordHeader) > reader.left() ||
        !readBuildId(misc, reader.bytes(size - sizeof(PerfRecordHeader))))
      return fail("its build ids are damaged");
  }
  return {};
}

Result<void> HeaderReader::readFeatures() {
  const auto has = [&](unsigned feature) { return (features_[feature / 64] >> (feature % 64) & 1) != 0; };
  unsigned count = 0;
  for (unsigned feature = 0; feature < kFeatures; ++feature)
    count += has(feature) ? 1 : 0;
  const auto index = MSL_TRY(bytesOf({perf_.data_end, count * sizeof(Part)}, "features"));
  ByteReader reader(index);
  for (unsigned feature = 0; feature < kFeatures; ++feature) {
    if (!has(feature))
      continue;
    const Part part = partOf(reader);
    if (feature == kEventNames) {
      const auto names = MSL_TRY(bytesOf(part, "names of events"));
      MSL_TRY(readEventNames(names));
    } else if (feature == kBuildIds) {
      const auto ids = MSL_TRY(bytesOf(part, "build ids"));
      MSL_TRY(readBuildIds(ids));
    }
  }
  return {};
}

bool HeaderReader::onPipeRecord(const PerfRecordHeader &header, std::span<const uint8_t> body) {
  ByteReader reader(body);
  switch (header.kind) {
  case PerfRecordKind::Attribute: {
    reader.fixed<uint32_t>();
    const uint64_t size = std::max<uint64_t>(reader.fixed<uint32_t>(), kLeastAttributeBytes);
    if (reader.failed() || size > body.size())
      return false;
    if (perf_.events.size() <= kMostEvents) // With one more event, checkEvents() fails.
      add(attributeOf(body.first(static_cast<size_t>(size))), body.subspan(static_cast<size_t>(size)));
    return true;
  }
  case PerfRecordKind::BuildId:
    return readBuildId(header.misc, body);
  case PerfRecordKind::Feature:
    if (reader.fixed<uint64_t>() == kEventNames && !reader.failed())
      event_names_.assign(body.begin() + sizeof(uint64_t), body.end());
    return !reader.failed();
  default:
    return true;
  }
}

// A file from a pipe has no index. Its attributes, names and ids are records among the other records.
Result<void> HeaderReader::readPipe() {
  perf_.data_begin = kPipeHeaderBytes;
  perf_.data_end = file_.size();
  MSL_TRY(forEachPerfRecord(
      file_, perf_.data_begin, perf_.data_end, PackedRecords::StepOver,
      [&](const PerfRecordHeader &header, std::span<const uint8_t> body) { return onPipeRecord(header, body); }));
  return event_names_.empty() ? Result<void>() : readEventNames(event_names_);
}

// A sample's id must be read before its event is known. So the id must have the same place in the samples of all
// events.
Result<void> HeaderReader::checkEvents() {
  if (perf_.events.empty())
    return fail("has no events");
  if (perf_.events.size() > kMostEvents)
    return fail(fmt::format("has more than {} events", kMostEvents));
  for (const PerfEvent &event : perf_.events) {
    if ((event.fields & kPerfIp) == 0)
      return fail(
          fmt::format("samples of event '{}' have no address of code, so there is nothing to show", event.name));
    if (event.fields != perf_.events.front().fields &&
        (event.fields & perf_.events.front().fields & kPerfIdentifier) == 0)
      return fail("its events have different samples without an identifier");
    if (perf_.events.size() > 1 && (event.fields & (kPerfIdentifier | kPerfId)) == 0)
      return fail("its samples do not say of which event they are");
  }
  return {};
}

Result<PerfFile> HeaderReader::read() {
  constexpr uint64_t kHeaderBytes = 8 + 2 * 8 + 3 * sizeof(Part) + 4 * 8;
  std::array<uint8_t, kHeaderBytes> bytes;
  ByteReader reader(bytes);
  const size_t count = MSL_TRY(file_.read(0, bytes));
  const std::string_view magic(reinterpret_cast<const char *>(bytes.data()), std::min(count, kMagic.size()));
  if (magic == kSwappedMagic)
    return fail("was recorded on a machine of the other byte order");
  if (magic != kMagic)
    return fail("is no perf.data");
  reader.fixed<uint64_t>();
  const auto size = reader.fixed<uint64_t>();
  if (count >= kPipeHeaderBytes && size == kPipeHeaderBytes) {
    MSL_TRY(readPipe());
    MSL_TRY(checkEvents());
    return std::move(perf_);
  }
  if (count < kHeaderBytes || size < kHeaderBytes)
    return fail("its header is cut short");
  const auto attribute_bytes = reader.fixed<uint64_t>();
  const Part attributes = partOf(reader), data = partOf(reader);
  partOf(reader); // the part with event types, of old versions
  for (uint64_t &word : features_)
    word = reader.fixed<uint64_t>();
  if (data.size == 0)
    return fail("has no records: perf record was not ended properly, or nothing ran");
  if (data.offset > file_.size() || data.size > file_.size() - data.offset)
    return fail(fmt::format("is cut short: its records should end at byte {}, it has {}", data.offset + data.size,
                            file_.size()));
  perf_.data_begin = data.offset;
  perf_.data_end = data.offset + data.size;
  MSL_TRY(readAttributes(attributes, attribute_bytes));
  MSL_TRY(readFeatures());
  MSL_TRY(checkEvents());
  return std::move(perf_);
}

} // namespace

Result<PerfFile> PerfFile::open(const InputFile &file) { return HeaderReader(file).read(); }

bool isPerfData(std::span<const uint8_t> head) {
  const std::string_view magic(reinterpret_cast<const char *>(head.data()), std::min(head.size(), kMagic.size()));
  return magic == kMagic || magic == kSwappedMagic;
}

} // namespace msleaks::analysis::profiles
