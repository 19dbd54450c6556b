// Compares launches as msMemScope does (msleaks compare --policy msmemscope). Each launch is compared together with the
// first change of the pool after it.
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
  std::optional<DumpSize> base, compared; // none: the side has no launch, or no change follows the launch

  DumpSize difference() const { return compared.value_or(0) - base.value_or(0); }
  bool differs() const { return in_base != in_compared || base != compared; }
};

struct MsmemscopeComparison {
  std::vector<MsmemscopeRow> rows; // by device, then in the order of launches
  size_t differing = 0;            // number of rows that differ
  bool coarse = false;             // see Alignment
};

// Compares devices that have the same name. A device of one side only also gets rows.
MsmemscopeComparison compareAsMsmemscope(const MsmemscopeDump &base, const MsmemscopeDump &compared);

// Returns the file's content in msMemScope's form. A name is in quotes if a spreadsheet would split it.
std::string msmemscopeTable(const MsmemscopeComparison &, DumpLevel, const NameTable &);

// Writes the content into a file in the folder. The file has the name that msMemScope would give it at this time. If
// the folder does not exist, makes it. Returns the path of the file.
Result<std::filesystem::path> writeMsmemscopeTable(const std::string &content, const std::filesystem::path &folder,
                                                   std::time_t now);

// One side of a comparison: a dump of msMemScope, or a run of msleaks.
struct MsmemscopeSide {
  MsmemscopeDump launches;
  std::vector<std::string> damage; // damage of a run's trace
};

// Reads a dump if the name ends with .csv, otherwise a run. A file without any launch is an error, because its
// recording did not include launches.
Result<MsmemscopeSide> readMsmemscopeSide(const std::string &path, DumpLevel, NameTable &);

// Returns the launches of a run in the form of a dump. Kernels are launches of kernels, and operators are ranges. The
// host is called "cpu". On each device, the launches of one process follow the launches of another.
MsmemscopeDump dumpOf(const RunLaunches &, DumpLevel);

} // namespace msleaks::analysis::inline compare
