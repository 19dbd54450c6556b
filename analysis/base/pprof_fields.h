// The numbers of fields in pprof's format, https://github.com/google/pprof/blob/main/proto/profile.proto. An exporter
// writes the format, and an importer reads it.
#pragma once

#include <cstdint>

namespace msleaks::analysis::inline base::pprof_field {

enum : uint32_t {
  SampleType = 1,
  Sample,
  Mapping,
  Location,
  Function,
  StringTable,
  TimeNanos = 9,
  Duration,
  PeriodType,
  Period,
  Comment,
  DefaultSampleType
};

} // namespace msleaks::analysis::inline base::pprof_field
