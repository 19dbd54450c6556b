// Reads the file of `perf record`: the sampled events, the layout of their samples, and the place of the records. The
// reader needs neither perf nor a header of Linux.
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

// Bits of an event's sample_type. They say which fields a sample has. Samples have the fields in this order.
enum PerfField : uint64_t {
  kPerfIp = 1 << 0,
  kPerfTid = 1 << 1,
  kPerfTime = 1 << 2,
  kPerfAddress = 1 << 3,
  kPerfId = 1 << 6,
  kPerfStreamId = 1 << 9,
  kPerfCpu = 1 << 7,
  kPerfPeriod = 1 << 8,
  kPerfIdentifier = 1 << 16, // the first field of a sample
};

struct PerfEvent {
  std::string name; // the name that the user gave: "cycles:u"
  uint64_t fields = 0;
  uint64_t period = 0;         // period of each sample, if samples have no period of their own; 0: not known
  bool ids_everywhere = false; // other records than samples also end with some of the fields
};

struct PerfFile {
  // Fails if the file is no perf.data of this machine's byte order, or if perf did not end properly. The file may come
  // from a pipe (perf record -o -).
  static Result<PerfFile> open(const InputFile &);

  std::vector<PerfEvent> events; // at least one event
  std::unordered_map<uint64_t, uint32_t> event_of_id;
  std::map<std::string, std::vector<std::byte>> build_ids; // by path; only the ones that perf wrote
  uint64_t data_begin = 0, data_end = 0;                   // the place of the records in the file
};

bool isPerfData(std::span<const uint8_t> head);

} // namespace msleaks::analysis::profiles
