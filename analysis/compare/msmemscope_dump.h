// Reads the CSV dump of msMemScope: the launches on each device, and the first change of the framework's pool after
// each launch.
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

// A size in a dump, from -2^63 to 2^64 - 1. Older versions write a free as a negative number. Differences of sizes fit,
// too.
__extension__ using DumpSize = __int128;

// Returns the size in decimal digits.
std::string textOf(DumpSize);

struct DumpLaunch {
  uint32_t name = 0;            // number in the NameTable
  std::optional<DumpSize> size; // size in the pool's first row after the launch, in order of time; none: no such row
};

struct DumpDevice {
  std::string device;               // the text of the dump: "0", "cpu", "N/A"
  std::vector<DumpLaunch> launches; // in order of time; if times are equal, in order of rows
};

// Devices with at least one launch. They are in the order of their names, numbers first.
using MsmemscopeDump = std::vector<DumpDevice>;

// Says which rows are launches: rows of kernels, or rows of the ends of operators.
enum class DumpLevel : uint8_t { Kernel, Operator };

// Reads a dump. Needs 32 bytes of memory for each row of a launch or of the pool, and space for each name once.
Result<MsmemscopeDump> readMsmemscopeDump(std::istream &, const std::string &file, DumpLevel, NameTable &);
Result<MsmemscopeDump> readMsmemscopeDump(const std::filesystem::path &file, DumpLevel, NameTable &);

// Returns the value of a key in "{key:value,key:value}", as msMemScope writes it, or in JSON whose values are texts.
// Returns nothing if the key is missing.
std::optional<std::string_view> dumpAttribute(std::string_view attributes, std::string_view key);

// Orders devices: 2 before 10, and both before "cpu".
bool isEarlierDevice(const std::string &, const std::string &);

// Reads a CSV file row by row (RFC 4180). A cell in quotes may contain commas, newlines and doubled quotes.
class CsvReader {
public:
  // `file` names the input in messages. The stream must outlive the reader.
  CsvReader(std::istream &in, std::string file) : in_(in), file_(std::move(file)), buffer_(64 << 10, '\0') {}

  // Reads the next row, which has at least one cell. Returns false if there is no more row.
  Result<bool> next();
  // Returns the cells of this row. The caller may change them, because the next row overwrites them.
  std::vector<std::string> &cells() { return cells_; }
  // Returns the row's number, as a spreadsheet counts: the header is row 1.
  uint64_t row() const { return row_; }
  // Returns an error in this row.
  tl::unexpected<Error> fault(const std::string &what) const;

private:
  static constexpr size_t kMostRowBytes = 64 << 20;

  // Returns the next bytes of the buffer, which is filled first if it is empty. Returns nothing at the end of the file.
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
