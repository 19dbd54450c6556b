// Reads the CSV dump of msMemScope: the launches on each device, each with the next change of the framework's pool.
#pragma once

#include "analysis/base/result.h"
#include "analysis/compare/name_table.h"

#include <cstdint>
#include <filesystem>
#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace msleaks::analysis::compare {

// A size in a dump: from -2^63 (older versions write a free as a negative number) to 2^64 - 1. Differences fit, too.
__extension__ using DumpSize = __int128;

// Returns the size in decimal digits.
std::string textOf(DumpSize);

struct DumpLaunch {
  uint32_t name = 0;            // number in the NameTable
  std::optional<DumpSize> size; // of the first row of the pool behind it, in order of time; none: there is no such row
};

struct DumpDevice {
  std::string device;               // as the dump writes it: "0", "cpu", "N/A"
  std::vector<DumpLaunch> launches; // in order of time; of equal times, in order of rows
};

// Devices with at least one launch, in the order of their names, numbers first.
using MsmemscopeDump = std::vector<DumpDevice>;

// Which rows are launches: kernels, or the ends of operators.
enum class DumpLevel : uint8_t { Kernel, Operator };

// Memory: 32 bytes for each row that is a launch or a row of the pool, and each name once.
Result<MsmemscopeDump> readMsmemscopeDump(std::istream &, const std::string &file, DumpLevel, NameTable &);
Result<MsmemscopeDump> readMsmemscopeDump(const std::filesystem::path &file, DumpLevel, NameTable &);

// The order of devices: 2 before 10, and both before "cpu".
bool isEarlierDevice(const std::string &, const std::string &);

} // namespace msleaks::analysis::compare
