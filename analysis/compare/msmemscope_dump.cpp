#include "analysis/compare/msmemscope_dump.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <string_view>
#include <tuple>

namespace msleaks::analysis::inline compare {
namespace {

// The columns of a dump, in the order of the file.
constexpr std::array<std::string_view, 12> kColumns = {
    "ID",        "Event",     "Event Type", "Name", "Timestamp(ns)",      "Process Id",
    "Thread Id", "Device Id", "Ptr",        "Attr", "Call Stack(Python)", "Call Stack(C)"};
enum Column : size_t { kEvent = 1, kEventType = 2, kName = 3, kTimestamp = 4, kDevice = 7, kAttr = 9 };

// A row of a launch or of the pool.
struct DumpRow {
  uint64_t time = 0;
  bool is_launch = false;
  uint32_t name = 0; // name of a launch
  DumpSize size = 0; // size in a row of the pool
};

bool isLaunch(std::string_view type, DumpLevel level) {
  return level == DumpLevel::Kernel ? type == "KERNEL_LAUNCH" : type == "ATEN_END" || type == "ATB_END";
}

bool isOfPool(std::string_view event, std::string_view type) {
  return (event == "MALLOC" || event == "FREE") && (type == "PTA" || type == "MINDSPORE");
}

std::optional<uint64_t> numberIn(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

std::optional<DumpSize> sizeIn(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  const auto magnitude = numberIn(text.substr(is_negative ? 1 : 0));
  if (!magnitude || (is_negative && *magnitude > uint64_t{1} << 63))
    return std::nullopt;
  return is_negative ? -static_cast<DumpSize>(*magnitude) : static_cast<DumpSize>(*magnitude);
}

std::string_view withoutQuotes(std::string_view text) {
  return text.size() >= 2 && text.front() == '"' && text.back() == '"' ? text.substr(1, text.size() - 2) : text;
}

// Returns a value for a message, on one line.
std::string valueText(std::string_view text) {
  std::string shown = "'";
  for (const char character : text.substr(0, 60))
    shown += static_cast<unsigned char>(character) < ' ' || character == 0x7f ? '?' : character;
  return shown + (text.size() > 60 ? "...'" : "'");
}

// Reads the rows of a dump, and puts them in order.
class DumpRows {
public:
  DumpRows(std::istream &in, const std::string &file, DumpLevel level, NameTable &names)
      : csv_(in, file), level_(level), names_(names) {}

  Result<void> read();
  MsmemscopeDump launches();

private:
  Result<void> readHeader();
  Result<void> takeRow(std::vector<std::string> &cells);
  Result<DumpSize> sizeOf(std::string_view attributes) const;
  static void joinName(std::vector<std::string> &cells);

  CsvReader csv_;
  DumpLevel level_;
  NameTable &names_;
  std::map<std::string, std::vector<DumpRow>> rows_; // rows by device
};

Result<void> DumpRows::readHeader() {
  constexpr std::string_view kMark = "\xef\xbb\xbf"; // some editors write this mark before UTF-8
  if (!MSL_TRY(csv_.next()))
    return csv_.fault("the file is empty");
  std::vector<std::string> &header = csv_.cells();
  if (header[0].starts_with(kMark))
    header[0].erase(0, kMark.size());
  if (!std::equal(header.begin(), header.end(), kColumns.begin(), kColumns.end()))
    return csv_.fault("it is not the header of a dump of msMemScope (ID,Event,Event Type,Name,...)");
  return {};
}

// msMemScope writes names without quotes, even if they contain commas (foo<int, 4>). So surplus cells belong to the
// name.
void DumpRows::joinName(std::vector<std::string> &cells) {
  const auto behind = cells.begin() + kName + 1;
  const auto more = static_cast<ptrdiff_t>(cells.size() - kColumns.size());
  for (auto part = behind; part != behind + more; ++part)
    cells[kName] += "," + *part;
  cells.erase(behind, behind + more);
}

Result<void> DumpRows::takeRow(std::vector<std::string> &cells) {
  if (cells.size() == 1 && cells[0].empty())
    return {}; // The line is empty.
  if (cells.size() < kColumns.size())
    return csv_.fault(fmt::format("it has {} cells, and the header has {}: the file was cut, or a quote is missing",
                                  cells.size(), kColumns.size()));
  DumpRow row;
  row.is_launch = isLaunch(cells[kEventType], level_);
  if (!row.is_launch && !isOfPool(cells[kEvent], cells[kEventType]))
    return {};
  joinName(cells);
  const auto time = numberIn(cells[kTimestamp]);
  if (!time)
    return csv_.fault(fmt::format("its timestamp {} is no number below 2^64", valueText(cells[kTimestamp])));
  row.time = *time;
  if (row.is_launch)
    row.name = names_.numberOf(cells[kName]);
  else
    row.size = MSL_TRY(sizeOf(cells[kAttr]));
  rows_[cells[kDevice]].push_back(row);
  return {};
}

Result<DumpSize> DumpRows::sizeOf(std::string_view attributes) const {
  const auto text = dumpAttribute(attributes, "size");
  if (!text)
    return csv_.fault("its column Attr has no size");
  const auto size = sizeIn(*text);
  if (!size)
    return csv_.fault(fmt::format("its size {} is no number of 64 bits", valueText(*text)));
  return *size;
}

Result<void> DumpRows::read() {
  MSL_TRY(readHeader());
  while (MSL_TRY(csv_.next()))
    MSL_TRY(takeRow(csv_.cells()));
  return {};
}

MsmemscopeDump DumpRows::launches() {
  MsmemscopeDump dump;
  for (auto &[name, rows] : rows_) {
    const auto isEarlier = [](const DumpRow &a, const DumpRow &b) { return a.time < b.time; };
    if (!std::is_sorted(rows.begin(), rows.end(), isEarlier)) // msMemScope writes most rows in order.
      std::stable_sort(rows.begin(), rows.end(), isEarlier);
    DumpDevice device{name, {}};
    std::optional<DumpSize> next;
    for (auto row = rows.rbegin(); row != rows.rend(); ++row)
      if (row->is_launch)
        device.launches.push_back({row->name, next});
      else
        next = row->size;
    std::reverse(device.launches.begin(), device.launches.end());
    if (!device.launches.empty())
      dump.push_back(std::move(device));
    rows = {};
  }
  std::sort(dump.begin(), dump.end(),
            [](const DumpDevice &a, const DumpDevice &b) { return isEarlierDevice(a.device, b.device); });
  return dump;
}

} // namespace

std::optional<std::string_view> dumpAttribute(std::string_view attributes, std::string_view key) {
  for (size_t at = attributes.find(key); at != std::string_view::npos; at = attributes.find(key, at + 1)) {
    size_t begin = at, value = at + key.size();
    if (begin > 0 && attributes[begin - 1] == '"' && attributes.substr(value, 1) == "\"") {
      --begin;
      ++value;
    }
    const bool begins = begin > 0 && (attributes[begin - 1] == '{' || attributes[begin - 1] == ',');
    if (begins && attributes.substr(value, 1) == ":")
      return withoutQuotes(attributes.substr(value + 1, attributes.find_first_of(",}", value) - value - 1));
  }
  return std::nullopt;
}

std::string textOf(DumpSize size) { return fmt::format("{}", size); }

bool isEarlierDevice(const std::string &a, const std::string &b) {
  const auto keyOf = [](const std::string &device) {
    return std::tuple(numberIn(device).value_or(UINT64_MAX), std::string_view(device));
  };
  return keyOf(a) < keyOf(b);
}

Result<MsmemscopeDump> readMsmemscopeDump(std::istream &in, const std::string &file, DumpLevel level,
                                          NameTable &names) {
  DumpRows rows(in, file, level, names);
  MSL_TRY(rows.read());
  return rows.launches();
}

Result<MsmemscopeDump> readMsmemscopeDump(const std::filesystem::path &file, DumpLevel level, NameTable &names) {
  std::ifstream in(file, std::ios::binary);
  if (!in || std::filesystem::is_directory(file))
    return fail(fmt::format("cannot read '{}': there is no such file, or it may not be read", file.string()));
  return readMsmemscopeDump(in, file.string(), level, names);
}

tl::unexpected<Error> CsvReader::fault(const std::string &what) const {
  return fail(fmt::format("'{}', row {}: {}", file_, row_, what));
}

void CsvReader::fill() {
  in_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  at_ = 0;
  end_ = static_cast<size_t>(in_.gcount());
}

// Adds the next bytes of the buffer to a cell.
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

// Reads a cell. Returns false if it is the last cell of its row. msMemScope writes names without changes. So a quote is
// text if it does not begin the cell, or if more text follows the closing quote.
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
    const char delimiter = *end; // copied before the buffer is filled again
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

} // namespace msleaks::analysis::inline compare
