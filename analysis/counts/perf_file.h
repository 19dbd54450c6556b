// The file of `perf record`, from its layout alone: the sampled events, the layout of a sample of each, and the
// records. Neither perf nor a header of Linux is needed.
#pragma once

#include "analysis/base/files.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis::profiles {

// Bits of an event's sample_type: which fields a sample has, in the order of a sample.
enum PerfField : uint64_t {
  kPerfIp = 1 << 0,
  kPerfTid = 1 << 1,
  kPerfTime = 1 << 2,
  kPerfAddress = 1 << 3,
  kPerfId = 1 << 6,
  kPerfStreamId = 1 << 9,
  kPerfCpu = 1 << 7,
  kPerfPeriod = 1 << 8,
  kPerfIdentifier = 1 << 16, // stands first
};

struct PerfEvent {
  std::string name; // as it was asked for: "cycles:u"
  uint64_t fields = 0;
  uint64_t period = 0;         // of each sample, where samples have none of their own; 0: not known
  bool ids_everywhere = false; // records that are no samples end with some of the fields too
};

struct PerfFile {
  // Fails on what is no perf.data of this machine's byte order, or was not ended properly. It may have been written to
  // a pipe (perf record -o -).
  static Result<PerfFile> open(const InputFile &);

  std::vector<PerfEvent> events; // one at least
  std::unordered_map<uint64_t, uint32_t> event_of_id;
  std::map<std::string, std::vector<std::byte>> build_ids; // by path, as far as perf wrote them
  uint64_t data_begin = 0, data_end = 0;                   // of the records, in the file
};

bool isPerfData(std::span<const uint8_t> head);

} // namespace msleaks::analysis::profiles
