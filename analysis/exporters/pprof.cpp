// pprof: a profile.proto, packed with gzip, for `go tool pprof` and other readers (docs/formats.md).
#include "analysis/base/pprof_fields.h"
#include "analysis/exporters/call_tables.h"
#include "analysis/exporters/registry.h"

#include <ostream>
#include <zlib.h>

namespace msleaks::analysis::inline exporters {
namespace {

namespace value_type {
enum { Type = 1, Unit };
}
namespace sample {
enum { LocationId = 1, Value };
}
constexpr uint32_t kFirstFlagOfMapping = 7, kLastFlagOfMapping = 10; // all names are known
constexpr CallFieldNumbers kPprofNumbers{5, 2, 4, 2, 3, 4};
constexpr uint32_t kId = 1; // of mappings, locations and functions

// A reader looks for names itself unless the mapping says that all names are known.
std::string flagsOfMapping() {
  ProtobufMessage flags;
  for (uint32_t flag = kFirstFlagOfMapping; flag <= kLastFlagOfMapping; ++flag)
    flags.number(flag, 1);
  return flags.bytes();
}

class Profile {
public:
  void addSampleType(const std::string &type, const std::string &unit) {
    ProtobufMessage value;
    value.number(value_type::Type, tables_.numberOf(type));
    value.number(value_type::Unit, tables_.numberOf(unit));
    profile_.message(pprof_field::SampleType, value);
  }
  void setDefaultSampleType(const std::string &type) { default_type_ = tables_.numberOf(type); }
  void addComment(const std::string &text) { comments_.push_back(tables_.numberOf(text)); }
  void addSample(const PathBlocks &);
  // Returns the encoded profile.
  std::string finish(uint64_t duration_ns);

private:
  void addEntries(uint32_t field, const ProfileEntries &);

  ProtobufMessage profile_;
  CallTables tables_{kPprofNumbers, flagsOfMapping()};
  std::vector<uint64_t> comments_;
  uint64_t default_type_ = 0;
};

void Profile::addSample(const PathBlocks &blocks) {
  ProtobufMessage fields;
  fields.numbers(sample::LocationId, tables_.locationsOf(blocks));
  fields.numbers(sample::Value, std::vector{blocks.count, blocks.bytes});
  profile_.message(pprof_field::Sample, fields);
}

void Profile::addEntries(uint32_t field, const ProfileEntries &entries) {
  uint64_t id = 0;
  for (const std::string *fields : entries.items()) {
    ProtobufMessage entry;
    entry.number(kId, ++id);
    entry.append(*fields);
    profile_.message(field, entry);
  }
}

std::string Profile::finish(uint64_t duration_ns) {
  addEntries(pprof_field::Mapping, tables_.mappings());
  addEntries(pprof_field::Location, tables_.locations());
  addEntries(pprof_field::Function, tables_.functions());
  for (const std::string *text : tables_.strings())
    profile_.text(pprof_field::StringTable, *text);
  profile_.number(pprof_field::Duration, duration_ns);
  profile_.numbers(pprof_field::Comment, comments_);
  profile_.number(pprof_field::DefaultSampleType, default_type_);
  return profile_.bytes();
}

// Packs without a time and a name, so equal reports are equal files. Empty: there was no memory.
std::string gzipOf(std::string content) {
  constexpr int kMaxWindow = 15, kWithGzipHeader = 16, kUsualMemory = 8;
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kMaxWindow + kWithGzipHeader, kUsualMemory,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    return {};
  std::string packed;
  char part[1 << 16];
  stream.next_in = reinterpret_cast<Bytef *>(content.data());
  stream.avail_in = static_cast<uInt>(content.size());
  int status = Z_OK;
  while (status == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef *>(part);
    stream.avail_out = sizeof part;
    status = deflate(&stream, Z_FINISH);
    packed.append(part, sizeof part - stream.avail_out);
  }
  deflateEnd(&stream);
  return status == Z_STREAM_END ? packed : std::string();
}

class PprofExporter final : public PathExporter {
protected:
  void writePaths(const Report &report, const std::vector<PathBlocks> &list, std::ostream &out) override {
    Profile profile;
    profile.addSampleType(kind() + "_objects", "count");
    profile.addSampleType(kind() + "_space", "bytes");
    profile.setDefaultSampleType(kind() + "_space");
    profile.addComment(fmt::format("msleaks: {}: {}", programOf(report), title(report)));
    for (const PathBlocks &blocks : list)
      profile.addSample(blocks);
    const std::string packed = gzipOf(profile.finish(report.duration_ns));
    packed.empty() ? out.setstate(std::ios::failbit) : void(out << packed);
  }
};

} // namespace

MSL_REGISTER_EXPORTER(pprof, "bytes and blocks of each call path, for go tool pprof", PprofExporter)

} // namespace msleaks::analysis::inline exporters
