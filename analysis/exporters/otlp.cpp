// otlp: profiles of OpenTelemetry, as a collector receives them (docs/formats.md).
#include "analysis/exporters/call_tables.h"
#include "analysis/exporters/registry.h"

#include <ostream>
#include <span>
#include <string_view>

namespace msleaks::analysis::inline exporters {
namespace {

// The numbers of fields in
// https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/profiles/v1development/profiles.proto.
namespace otlp {
enum ProfilesData { ResourceProfilesOf = 1, Dictionary };
enum ResourceProfiles { Resource = 1, ScopeProfilesOf };
enum ScopeProfiles { Scope = 1, ProfileOf };
enum Profile { SampleType = 1, SampleOf, Duration = 4 };
enum Sample { StackIndex = 1, Values = 4 };
enum ValueType { TypeText = 1, UnitText };
enum Tables { Mappings = 1, Locations, Functions, Links, Strings, Attributes, Stacks };
enum Stack { LocationIndices = 1 };
enum Attribute { Key = 1, Value };
enum ValueOf { Text = 1 };
constexpr CallFieldNumbers kNumbers{4, 1, 3, 1, 2, 3};
} // namespace otlp

class OtlpProfiles {
public:
  explicit OtlpProfiles(const std::vector<PathBlocks> &list) : list_(list) {
    stacks_.numberOf(""); // the format wants an empty stack first
    for (const PathBlocks &blocks : list) {
      ProtobufMessage stack;
      stack.numbers(otlp::LocationIndices, tables_.locationsOf(blocks));
      stack_of_.push_back(stacks_.numberOf(stack.bytes()));
    }
  }

  // Adds a profile of one value of the blocks.
  void add(const std::string &type, const std::string &unit, uint64_t PathBlocks::*value, uint64_t duration_ns) {
    ProtobufMessage profile, kind;
    kind.number(otlp::TypeText, tables_.numberOf(type));
    kind.number(otlp::UnitText, tables_.numberOf(unit));
    profile.message(otlp::SampleType, kind);
    for (size_t i = 0; i < list_.size(); ++i) {
      ProtobufMessage sample;
      sample.number(otlp::StackIndex, stack_of_[i]);
      sample.numbers(otlp::Values, std::vector{list_[i].*value});
      profile.message(otlp::SampleOf, sample);
    }
    profile.number(otlp::Duration, duration_ns);
    scope_.message(otlp::ProfileOf, profile);
  }

  std::string finish(const std::string &program) const {
    ProtobufMessage value, name, resource, resource_profiles, data;
    value.text(otlp::Text, program);
    name.text(otlp::Key, "service.name");
    name.message(otlp::Value, value);
    resource.message(otlp::Resource, name); // a resource begins with its attributes
    resource_profiles.message(otlp::Resource, resource);
    resource_profiles.message(otlp::ScopeProfilesOf, scope_);
    data.message(otlp::ResourceProfilesOf, resource_profiles);
    data.message(otlp::Dictionary, dictionary());
    return data.bytes();
  }

private:
  ProtobufMessage dictionary() const {
    ProtobufMessage tables;
    const auto add = [&](uint32_t field, const ProfileEntries &entries) {
      tables.text(field, ""); // each table begins with an entry that means nothing
      for (const std::string *entry : entries.items())
        tables.text(field, *entry);
    };
    add(otlp::Mappings, tables_.mappings());
    add(otlp::Locations, tables_.locations());
    add(otlp::Functions, tables_.functions());
    for (const uint32_t unused : {otlp::Links, otlp::Attributes})
      add(unused, {});
    for (const std::string *text : tables_.strings())
      tables.text(otlp::Strings, *text);
    for (const std::string *stack : stacks_.items())
      tables.text(otlp::Stacks, *stack);
    return tables;
  }

  const std::vector<PathBlocks> &list_;
  CallTables tables_{otlp::kNumbers};
  Numbered<std::string> stacks_;
  std::vector<uint64_t> stack_of_; // by the position in list_
  ProtobufMessage scope_;
};

class OtlpExporter final : public PathExporter {
protected:
  // A viewer shows the first profile.
  void writePaths(const Report &report, const std::vector<PathBlocks> &list, std::ostream &out) override {
    OtlpProfiles profiles(list);
    profiles.add(kind() + "_space", "bytes", &PathBlocks::bytes, report.duration_ns);
    profiles.add(kind() + "_objects", "count", &PathBlocks::count, report.duration_ns);
    out << profiles.finish(programOf(report));
  }
};

} // namespace

MSL_REGISTER_EXPORTER(otlp, "bytes and blocks of each call path, for OpenTelemetry", OtlpExporter)

} // namespace msleaks::analysis::inline exporters
