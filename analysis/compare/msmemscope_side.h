// One side of a comparison by the rules of msMemScope: a dump of msMemScope, or a run of ours.
#pragma once

#include "analysis/compare/launches.h"
#include "analysis/compare/msmemscope_dump.h"

#include <string>
#include <vector>

namespace msleaks::analysis::compare {

struct MsmemscopeSide {
  MsmemscopeDump launches;
  std::vector<std::string> damage; // of a run's trace
};

// Reads a dump, if the name ends with .csv, or else a run. A file without any launch is an error, as it was recorded
// without launches.
Result<MsmemscopeSide> readMsmemscopeSide(const std::string &path, DumpLevel, NameTable &);

// The launches of a run as a dump has them: kernels, or instead of operators the ranges. The host is called "cpu", and
// all processes on a device follow one another.
MsmemscopeDump dumpOf(const RunLaunches &, DumpLevel);

} // namespace msleaks::analysis::compare
