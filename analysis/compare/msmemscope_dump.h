// Reads the CSV dump of msMemScope: the launches on each device, each with the next change of the framework's pool.
#pragma once

#include "analysis/base/result.h"
#include "analysis/compare/launches.h"

#include <cstdint>
#include <filesystem>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline compare {

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

// Reads a CSV file row by row (RFC 4180): a cell in quotes may contain commas, newlines and doubled quotes.
class CsvReader {
public:
  // `file` names the input in messages. The stream outlives the reader.
  CsvReader(std::istream &in, std::string file) : in_(in), file_(std::move(file)), buffer_(64 << 10, '\0') {}

  // Reads the next row, at least one cell. False: there is none.
  Result<bool> next();
  // Returns the cells of this row. The caller may change them: the next row overwrites them.
  std::vector<std::string> &cells() { return cells_; }
  // Its number, as a spreadsheet counts: the header is row 1.
  uint64_t row() const { return row_; }
  // An error in this row.
  tl::unexpected<Error> fault(const std::string &what) const;

private:
  static constexpr size_t kMostRowBytes = 64 << 20;

  // The bytes that are in the buffer, after it was filled if it was empty. Nothing: the file ends.
  std::string_view ahead() {
    if (at_ == end_)
      fill();
    return {buffer_.data() + at_, end_ - at_};
  }
  bool isAhead(char character) {
    const std::string_view bytes = ahead();
    return !bytes.empty() && bytes[0] == character;
  }
  void fill();
  Result<void> take(std::string &cell, std::string_view bytes);
  Result<void> readQuoted(std::string &cell);
  Result<bool> readCell(std::string &cell);

  std::istream &in_;
  std::string file_, buffer_;
  size_t at_ = 0, end_ = 0, row_bytes_ = 0;
  uint64_t row_ = 0;
  std::vector<std::string> cells_;
};

} // namespace msleaks::analysis::inline compare
