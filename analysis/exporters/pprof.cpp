// pprof: a profile.proto, packed with gzip, for `go tool pprof` and other readers (docs/formats.md).
#include "analysis/exporters/numbered.h"
#include "analysis/exporters/path_exporter.h"
#include "analysis/exporters/protobuf.h"
#include "analysis/exporters/registry.h"

#include <ostream>
#include <zlib.h>

namespace msleaks::analysis::inline exporters {
namespace {

// The numbers of fields in https://github.com/google/pprof/blob/main/proto/profile.proto.
namespace profile {
enum {
  SampleType = 1,
  Sample,
  Mapping,
  Location,
  Function,
  StringTable,
  Duration = 10,
  Comment = 13,
  DefaultSampleType
};
}
namespace value_type {
enum { Type = 1, Unit };
}
namespace sample {
enum { LocationId = 1, Value };
}
namespace mapping {
enum { Filename = 5, HasFunctions = 7, HasFilenames, HasLineNumbers, HasInlineFrames };
}
namespace location {
enum { MappingId = 2, Address, Line };
}
namespace line {
enum { FunctionId = 1, Line, Column };
}
namespace function {
enum { Name = 2, Filename = 4 };
}
constexpr uint32_t kId = 1; // of mappings, locations and functions

// Entries that have an id. Equal entries are one entry.
class Entries {
public:
  // 0 means no entry.
  uint64_t idOf(const ProtobufMessage &fields) { return fields_.numberOf(fields.bytes()) + 1; }
  void addTo(ProtobufMessage &profile, uint32_t field) const {
    uint64_t id = 0;
    for (const std::string *fields : fields_.items()) {
      ProtobufMessage entry;
      entry.number(kId, ++id);
      entry.append(*fields);
      profile.message(field, entry);
    }
  }

private:
  Numbered<std::string> fields_;
};

class Profile {
public:
  Profile() { strings_.numberOf(""); } // the format wants it first

  void addSampleType(const char *type, const char *unit) {
    ProtobufMessage value;
    value.number(value_type::Type, strings_.numberOf(type));
    value.number(value_type::Unit, strings_.numberOf(unit));
    profile_.message(profile::SampleType, value);
  }
  void setDefaultSampleType(const char *type) { default_type_ = strings_.numberOf(type); }
  void addComment(const std::string &text) { comments_.push_back(strings_.numberOf(text)); }
  void addSample(const PathBlocks &);
  // Returns the encoded profile.
  std::string finish(uint64_t duration_ns);

private:
  uint64_t mappingOf(const SiteText &);
  uint64_t functionOf(const PathFrame &);
  uint64_t locationOf(const SiteText &);

  ProtobufMessage profile_;
  Entries mappings_, locations_, functions_;
  Numbered<std::string> strings_;
  std::vector<uint64_t> comments_;
  uint64_t default_type_ = 0;
};

// The owner of a line of Python is a module, not a library. A report has no addresses of a run. A reader looks for
// names itself unless the mapping says that all names are known.
uint64_t Profile::mappingOf(const SiteText &call) {
  if (call.library.empty() || call.origin == SiteOrigin::Python)
    return 0;
  ProtobufMessage fields;
  fields.number(mapping::Filename, strings_.numberOf(printable(call.library)));
  for (const uint32_t known :
       {mapping::HasFunctions, mapping::HasFilenames, mapping::HasLineNumbers, mapping::HasInlineFrames})
    fields.number(known, 1);
  return mappings_.idOf(fields);
}

// A report has no linkage names. Without them, pprof does not shorten names, so "<module>" remains.
uint64_t Profile::functionOf(const PathFrame &frame) {
  ProtobufMessage fields;
  fields.number(function::Name, strings_.numberOf(frame.function));
  fields.number(function::Filename, strings_.numberOf(frame.file));
  return functions_.idOf(fields);
}

uint64_t Profile::locationOf(const SiteText &call) {
  ProtobufMessage fields;
  fields.number(location::MappingId, mappingOf(call));
  fields.number(location::Address, call.offset);
  for (const PathFrame &frame : framesOf(call)) {
    ProtobufMessage shown;
    shown.number(line::FunctionId, functionOf(frame));
    shown.number(line::Line, frame.line);
    shown.number(line::Column, frame.column);
    fields.message(location::Line, shown);
  }
  return locations_.idOf(fields);
}

void Profile::addSample(const PathBlocks &blocks) {
  std::vector<uint64_t> path;
  for (const SiteText *call : blocks.calls)
    path.push_back(locationOf(*call));
  ProtobufMessage fields;
  fields.numbers(sample::LocationId, path);
  fields.numbers(sample::Value, std::vector{blocks.count, blocks.bytes});
  profile_.message(profile::Sample, fields);
}

std::string Profile::finish(uint64_t duration_ns) {
  mappings_.addTo(profile_, profile::Mapping);
  locations_.addTo(profile_, profile::Location);
  functions_.addTo(profile_, profile::Function);
  for (const std::string *text : strings_.items())
    profile_.text(profile::StringTable, *text);
  profile_.number(profile::Duration, duration_ns);
  profile_.numbers(profile::Comment, comments_);
  profile_.number(profile::DefaultSampleType, default_type_);
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
    profile.addSampleType("inuse_objects", "count");
    profile.addSampleType("inuse_space", "bytes");
    profile.setDefaultSampleType("inuse_space");
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
