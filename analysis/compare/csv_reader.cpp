#include "analysis/compare/csv_reader.h"

#include <algorithm>
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

// Adds bytes that are ahead to a cell.
Result<void> CsvReader::take(std::string &cell, std::string_view bytes) {
  row_bytes_ += bytes.size();
  if (row_bytes_ > kMostRowBytes)
    return fault("it has more than 64 MiB: a quote is missing, or this is no CSV file");
  cell += bytes;
  at_ += bytes.size();
  return {};
}

Result<void> CsvReader::readQuoted(std::string &cell) {
  for (++at_;;) {
    const std::string_view bytes = ahead();
    if (bytes.empty())
      return fault("the file ends within quotes: it was cut");
    const size_t quote = bytes.find('"');
    MSL_TRY(take(cell, bytes.substr(0, quote)));
    if (quote == std::string_view::npos)
      continue;
    ++at_;
    if (!isAhead('"'))
      return {};
    MSL_TRY(take(cell, "\""));
  }
}

// False: the cell is the last one of its row. A quote that does not begin the cell, or that more text follows, is text:
// msMemScope writes names as they are.
Result<bool> CsvReader::readCell(std::string &cell) {
  cell.clear();
  if (isAhead('"'))
    MSL_TRY(readQuoted(cell));
  for (;;) {
    const std::string_view bytes = ahead();
    if (bytes.empty())
      return false;
    const auto end = std::find_if(bytes.begin(), bytes.end(), [](char character) {
      return character == ',' || character == '\n' || character == '\r';
    });
    MSL_TRY(take(cell, {bytes.begin(), end}));
    if (end == bytes.end())
      continue;
    const char delimiter = *end; // before the buffer is filled again
    ++at_;
    if (delimiter != '\r')
      return delimiter == ',';
    if (!isAhead('\n'))
      cell += '\r';
  }
}

Result<bool> CsvReader::next() {
  row_bytes_ = 0;
  const bool ends = ahead().empty();
  if (in_.bad())
    return fail(fmt::format("cannot read '{}'", file_));
  if (ends)
    return false;
  ++row_;
  size_t count = 0;
  do {
    if (count == cells_.size())
      cells_.emplace_back();
  } while (MSL_TRY(readCell(cells_[count++])));
  cells_.resize(count);
  return true;
}

} // namespace msleaks::analysis::compare
