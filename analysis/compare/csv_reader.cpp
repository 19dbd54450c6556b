#include "analysis/compare/csv_reader.h"

#include <fmt/format.h>

namespace msleaks::analysis::compare {

tl::unexpected<Error> CsvReader::fault(const std::string &what) const {
  return fail(fmt::format("'{}', row {}: {}", file_, row_, what));
}

void CsvReader::fill() {
  in_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  at_ = 0;
  end_ = static_cast<size_t>(in_.gcount());
}

Result<void> CsvReader::readQuoted(std::string &cell) {
  take();
  for (;;) {
    const int character = take();
    if (character == kEnd)
      return fault("the file ends within quotes: it was cut");
    if (++row_bytes_ > kMostRowBytes)
      return fault("it has more than 64 MiB: a quote is missing");
    if (character != '"')
      cell += static_cast<char>(character);
    else if (peek() == '"')
      cell += static_cast<char>(take());
    else
      return {};
  }
}

// Adds one cell. False: it is the last one of its row. A quote that does not begin the cell, or that more text follows,
// is text: msMemScope writes names as they are.
Result<bool> CsvReader::readCell() {
  std::string &cell = cells_.emplace_back();
  if (peek() == '"')
    MSL_TRY(readQuoted(cell));
  for (;;) {
    const int character = take();
    if (character == ',')
      return true;
    if (character == '\r' && peek() == '\n')
      continue;
    if (character == '\n' || character == kEnd)
      return false;
    if (++row_bytes_ > kMostRowBytes)
      return fault("it has more than 64 MiB: this is no CSV file");
    cell += static_cast<char>(character);
  }
}

Result<bool> CsvReader::next() {
  cells_.clear();
  row_bytes_ = 0;
  const bool ends = peek() == kEnd;
  if (in_.bad())
    return fail(fmt::format("cannot read '{}'", file_));
  if (ends)
    return false;
  ++row_;
  while (MSL_TRY(readCell()))
    continue;
  return true;
}

} // namespace msleaks::analysis::compare
