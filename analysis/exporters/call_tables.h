// The calls of paths as tables of a profile in Protocol Buffers: strings, mappings, functions and locations. pprof and
// OTLP share these tables. They differ only in the numbers of fields.
#pragma once

#include "analysis/exporters/numbered.h"
#include "analysis/exporters/path_exporter.h"
#include "analysis/exporters/protobuf.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline exporters {

struct CallFieldNumbers {
  uint32_t mapping_file, function_name, function_file, location_mapping, location_address, location_line;
};

// Encoded entries without their number. Equal entries are one entry. An entry has the number of its place here + 1,
// and the number 0 means no entry.
using ProfileEntries = Numbered<std::string>;

class CallTables {
public:
  // `of_each_mapping`: encoded fields that each mapping has, too.
  explicit CallTables(const CallFieldNumbers &numbers, std::string of_each_mapping = {})
      : numbers_(numbers), of_each_mapping_(std::move(of_each_mapping)) {
    numberOf(""); // both formats want it first
  }

  uint64_t numberOf(std::string text) { return strings_.numberOf(std::move(text)); }
  // Returns the locations of the path, the allocator's caller first.
  std::vector<uint64_t> locationsOf(const PathBlocks &blocks) {
    std::vector<uint64_t> path;
    for (const SiteText *call : blocks.calls)
      path.push_back(locationOf(*call));
    return path;
  }

  const std::vector<const std::string *> &strings() const { return strings_.items(); }
  const ProfileEntries &mappings() const { return mappings_; }
  const ProfileEntries &functions() const { return functions_; }
  const ProfileEntries &locations() const { return locations_; }

private:
  enum Line : uint32_t { FunctionNumber = 1, LineNumber, ColumnNumber };

  static uint64_t entryOf(ProfileEntries &entries, const ProtobufMessage &fields) {
    return entries.numberOf(fields.bytes()) + 1;
  }
  // The owner of a line of Python is a module, not a library. A report has no addresses of a run.
  uint64_t mappingOf(const SiteText &call) {
    if (call.library.empty() || call.origin == SiteOrigin::Python)
      return 0;
    ProtobufMessage fields;
    fields.number(numbers_.mapping_file, numberOf(printable(call.library)));
    fields.append(of_each_mapping_);
    return entryOf(mappings_, fields);
  }
  // A report has no linkage names. Without them, pprof does not shorten names, so "<module>" remains.
  uint64_t functionOf(const PathFrame &frame) {
    ProtobufMessage fields;
    fields.number(numbers_.function_name, numberOf(frame.function));
    fields.number(numbers_.function_file, numberOf(frame.file));
    return entryOf(functions_, fields);
  }
  uint64_t locationOf(const SiteText &call) {
    ProtobufMessage fields;
    fields.number(numbers_.location_mapping, mappingOf(call));
    fields.number(numbers_.location_address, call.offset);
    for (const PathFrame &frame : framesOf(call)) {
      ProtobufMessage shown;
      shown.number(FunctionNumber, functionOf(frame));
      shown.number(LineNumber, frame.line);
      shown.number(ColumnNumber, frame.column);
      fields.message(numbers_.location_line, shown);
    }
    return entryOf(locations_, fields);
  }

  CallFieldNumbers numbers_;
  std::string of_each_mapping_;
  ProfileEntries mappings_, functions_, locations_;
  Numbered<std::string> strings_;
};

} // namespace msleaks::analysis::inline exporters
