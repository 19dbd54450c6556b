// Writes a report that `lnt submit` and `lnt import` accept. The report is JSON of format_version "2" with one test,
// its metrics and its profile.
#pragma once

#include "analysis/counts/profile.h"

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

namespace msleaks::analysis::profiles {

struct LntReport {
  std::string machine;
  std::map<std::string, std::string> machine_fields; // "hardware", "os", …
  std::map<std::string, std::string> run_fields;     // one of them is the field by which LNT orders runs
  int64_t start_time = 0, end_time = 0;              // seconds since 1970
  std::string test;                                  // "nts.suite/program"
  std::map<std::string, std::vector<double>> metrics;
};

// Returns the metric for a report without given metrics. This is the sum of the profile's clock events in seconds
// (execution_time). Without such events, it is the number of bytes from the first to the last line of each function
// (code_size).
std::pair<std::string, double> metricOf(const Profile &);

// `profile` are the bytes that writeLnt() returns.
void writeLntReport(std::ostream &, const LntReport &, std::string_view profile);

std::string base64(std::string_view bytes);

} // namespace msleaks::analysis::profiles
