// Reads a CSV file row by row (RFC 4180): a cell in quotes may contain commas, newlines and doubled quotes.
#pragma once

#include "analysis/base/result.h"

#include <cstdint>
#include <istream>
#include <string>
#include <utility>
#include <vector>

namespace msleaks::analysis::compare {

class CsvReader {
public:
  // `file` names the input in messages. The stream outlives the reader.
  CsvReader(std::istream &in, std::string file) : in_(in), file_(std::move(file)), buffer_(64 << 10, '\0') {}

  // Reads the next row, at least one cell. False: there is none.
  Result<bool> next();
  // Once for each row.
  std::vector<std::string> takeCells() { return std::move(cells_); }
  // Its number, as a spreadsheet counts: the header is row 1.
  uint64_t row() const { return row_; }
  // An error in this row.
  tl::unexpected<Error> fault(const std::string &what) const;

private:
  static constexpr int kEnd = -1;
  static constexpr size_t kMostRowBytes = 64 << 20;

  int peek() {
    if (at_ == end_)
      fill();
    return at_ == end_ ? kEnd : static_cast<unsigned char>(buffer_[at_]);
  }
  int take() {
    const int character = peek();
    at_ += character != kEnd;
    return character;
  }
  void fill();
  Result<void> readQuoted(std::string &cell);
  Result<bool> readCell();

  std::istream &in_;
  std::string file_, buffer_;
  size_t at_ = 0, end_ = 0, row_bytes_ = 0;
  uint64_t row_ = 0;
  std::vector<std::string> cells_;
};

} // namespace msleaks::analysis::compare
