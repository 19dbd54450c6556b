// Compares launches as msMemScope does (msleaks compare --policy msmemscope): each launch with the next change of the
// pool behind it.
#pragma once

#include "analysis/compare/launches.h"
#include "analysis/compare/msmemscope_dump.h"

#include <cstddef>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

namespace msleaks::analysis::inline compare {

struct MsmemscopeRow {
  std::string device;
  uint32_t name = 0; // number in the NameTable
  bool in_base = false, in_compared = false;
  std::optional<DumpSize> base, compared; // none: there is no launch, or no change behind it

  DumpSize difference() const { return compared.value_or(0) - base.value_or(0); }
  bool differs() const { return in_base != in_compared || base != compared; }
};

struct MsmemscopeComparison {
  std::vector<MsmemscopeRow> rows; // by device, and then in the order of the launches
  size_t differing = 0;            // rows
  bool coarse = false;             // see Alignment
};

// Devices are the same if they have the same name. A device of one side only has rows, too.
MsmemscopeComparison compareAsMsmemscope(const MsmemscopeDump &base, const MsmemscopeDump &compared);

// The file's content, as msMemScope lays it out. A name that a spreadsheet would take apart is in quotes.
std::string msmemscopeTable(const MsmemscopeComparison &, DumpLevel, const NameTable &);

// Writes this content into the folder, under the name that msMemScope gives the file at this time. A folder that does
// not exist is made. Returns the path of the file.
Result<std::filesystem::path> writeMsmemscopeTable(const std::string &content, const std::filesystem::path &folder,
                                                   std::time_t now);

// One side of a comparison by the rules of msMemScope: a dump of msMemScope, or a run of ours.
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

} // namespace msleaks::analysis::inline compare
