// Calls a function for each record of a perf.data, in the order of the file. Compressed records (perf record -z) are
// unpacked.
#pragma once

#include "analysis/base/files.h"

#include <cstdint>
#include <functional>
#include <span>

namespace msleaks::analysis::profiles {

enum class PerfRecordKind : uint32_t {
  Map = 1,
  Lost = 2,
  Command = 3,
  Fork = 7,
  Sample = 9,
  MapWithDevice = 10,
  LostSamples = 13,
  Attribute = 64, // the attribute of an event; only in files from pipes, like the next two
  TracingData = 66,
  BuildId = 67,
  FinishedRound = 68,
  HardwareTrace = 71,
  EventUpdate = 78,
  Feature = 80,
  Compressed = 81,
  CompressedAligned = 83,
};

struct PerfRecordHeader {
  PerfRecordKind kind;
  uint16_t misc, size;
};
static_assert(sizeof(PerfRecordHeader) == 8);

// Returns false if the record makes no sense.
using OnPerfRecord = std::function<bool(const PerfRecordHeader &, std::span<const uint8_t> body)>;

enum class PackedRecords : uint8_t { Unpack, StepOver };

// Calls the function for each record between the two places of the file. The need for memory does not grow with the
// file.
Result<void> forEachPerfRecord(const InputFile &, uint64_t begin, uint64_t end, PackedRecords, const OnPerfRecord &);

} // namespace msleaks::analysis::profiles
