// Reads a CSV file row by row (RFC 4180): a cell in quotes may contain commas, newlines and doubled quotes.
#pragma once

#include "analysis/base/result.h"

#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace msleaks::analysis::compare {

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

} // namespace msleaks::analysis::compare
