#include "analysis/importers/foreign_rows.h"

#include "analysis/base/text.h"
#include "analysis/compare/msmemscope_dump.h"

#include <array>
#include <charconv>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <optional>
#include <sqlite3.h>

namespace msleaks::analysis::inline importers {
namespace {

enum ForeignColumn : size_t {
  Id,
  Time,
  Pid,
  Tid,
  Pointer,
  Size,
  EventText,
  TypeText,
  NameText,
  Device,
  Attr,
  Python,
  C
};
constexpr size_t kForeignColumns = 13;

// The first versions of msMemScope named some columns otherwise, and had a column for the size.
struct ColumnName {
  ForeignColumn column;
  std::string_view name;
};
constexpr ColumnName kColumnNames[] = {{Id, "ID"},
                                       {Id, "Record Index"},
                                       {Time, "Timestamp(ns)"},
                                       {Pid, "Process Id"},
                                       {Tid, "Thread Id"},
                                       {Pointer, "Ptr"},
                                       {Pointer, "Addr"},
                                       {Size, "Size(byte)"},
                                       {EventText, "Event"},
                                       {TypeText, "Event Type"},
                                       {NameText, "Name"},
                                       {Device, "Device Id"},
                                       {Attr, "Attr"},
                                       {Python, "Call Stack(Python)"},
                                       {C, "Call Stack(C)"}};
constexpr ForeignColumn kNeeded[] = {Time, Pid, EventText, TypeText, Device, Pointer};

// Decimal, or with 0x. The first versions write the size of a free with a minus.
std::optional<uint64_t> numberOf(std::string_view text) {
  if (text.starts_with('-'))
    text.remove_prefix(1);
  const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
  if (is_hex)
    text.remove_prefix(2);
  uint64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number, is_hex ? 16 : 10);
  return failed == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

// The position of each column in the rows.
class Columns {
public:
  Result<void> take(const std::vector<std::string> &header) {
    for (size_t at = 0; at < header.size(); ++at)
      for (const ColumnName &known : kColumnNames)
        if (header[at] == known.name)
          places_[known.column] = at;
    for (const ForeignColumn needed : kNeeded)
      if (!places_[needed])
        return fail("it is not the header of a dump of msMemScope (ID,Event,Event Type,Name,...)");
    count_ = header.size();
    return {};
  }
  size_t count() const { return count_; }
  std::optional<size_t> placeOf(ForeignColumn column) const { return places_[column]; }
  Result<ForeignRow> rowOf(const std::vector<std::string> &cells) const {
    const auto textOf = [&](ForeignColumn column) {
      return places_[column] ? std::string_view(cells[*places_[column]]) : std::string_view();
    };
    ForeignRow row;
    row.event = textOf(EventText);
    row.type = textOf(TypeText);
    row.name = textOf(NameText);
    row.device = textOf(Device);
    row.attributes = textOf(Attr);
    row.python_stack = textOf(Python);
    row.c_stack = textOf(C);
    const auto time = numberOf(textOf(Time)), pid = numberOf(textOf(Pid)), tid = numberOf(textOf(Tid));
    if (!time || *time > uint64_t{INT64_MAX} || !pid || *pid > UINT32_MAX)
      return fail("its time or process is no number");
    row.time_ns = *time;
    row.pid = static_cast<uint32_t>(*pid);
    row.tid = static_cast<uint32_t>(tid.value_or(0));
    row.id = numberOf(textOf(Id)).value_or(0);
    row.address = numberOf(textOf(Pointer)).value_or(0);
    const auto attribute = dumpAttribute(row.attributes, "size");
    row.size = numberOf(attribute ? *attribute : textOf(Size)).value_or(0);
    return row;
  }

private:
  std::array<std::optional<size_t>, kForeignColumns> places_;
  size_t count_ = 0;
};

// msMemScope writes names without quotes, even if they contain commas. So surplus cells belong to the name.
void joinName(std::vector<std::string> &cells, const Columns &columns) {
  const size_t more = cells.size() - columns.count(), name = columns.placeOf(NameText).value_or(0);
  const auto behind = cells.begin() + static_cast<ptrdiff_t>(name) + 1;
  for (auto part = behind; part != behind + static_cast<ptrdiff_t>(more); ++part)
    cells[name] += "," + *part;
  cells.erase(behind, behind + static_cast<ptrdiff_t>(more));
}

// A database that lacks its end may still be readable, with wrong rows. So the size is compared with the header's.
Result<void> checkWhole(const std::filesystem::path &file) {
  constexpr size_t kHeaderBytes = 100, kPageSize = 16, kPageCount = 28;
  unsigned char header[kHeaderBytes] = {};
  std::ifstream in(file, std::ios::binary);
  in.read(reinterpret_cast<char *>(header), sizeof header);
  const uint32_t page_size = header[kPageSize] << 8 | header[kPageSize + 1]; // 1 means 64 KiB
  uint64_t pages = 0;
  for (size_t i = 0; i < 4; ++i)
    pages = pages << 8 | header[kPageCount + i];
  std::error_code error;
  const uint64_t size = std::filesystem::file_size(file, error);
  if (error || !in || size < pages * (page_size == 1 ? 65536 : page_size))
    return fail(fmt::format("'{}': it is no database of SQLite, or it was cut", file.string()));
  return {};
}

struct CloseDatabase {
  void operator()(sqlite3 *database) const { sqlite3_close_v2(database); }
  void operator()(sqlite3_stmt *statement) const { sqlite3_finalize(statement); }
};

std::string textOf(sqlite3_stmt *row, int column) {
  const auto *text = reinterpret_cast<const char *>(sqlite3_column_text(row, column));
  return text ? std::string(text, static_cast<size_t>(sqlite3_column_bytes(row, column))) : std::string();
}

Result<void> forEachDatabaseRow(const std::filesystem::path &file, const std::function<void(const ForeignRow &)> &f) {
  MSL_TRY(checkWhole(file));
  sqlite3 *opened = nullptr;
  int status = sqlite3_open_v2(file.c_str(), &opened, SQLITE_OPEN_READONLY, nullptr);
  const std::unique_ptr<sqlite3, CloseDatabase> database(opened);
  // A message may contain texts of the file.
  const auto refuse = [&] { return fail(fmt::format("'{}': {}", file.string(), printable(sqlite3_errmsg(opened)))); };
  sqlite3_stmt *prepared = nullptr;
  if (status == SQLITE_OK)
    status = sqlite3_prepare_v2(opened, "SELECT * FROM memscope_dump", -1, &prepared, nullptr);
  if (status == SQLITE_ERROR) // the first versions
    status = sqlite3_prepare_v2(opened, "SELECT * FROM leaks_dump", -1, &prepared, nullptr);
  if (status != SQLITE_OK)
    return refuse();
  const std::unique_ptr<sqlite3_stmt, CloseDatabase> rows(prepared);
  std::vector<std::string> cells(static_cast<size_t>(sqlite3_column_count(prepared)));
  for (size_t column = 0; column < cells.size(); ++column)
    cells[column] = sqlite3_column_name(prepared, static_cast<int>(column));
  Columns columns;
  if (const auto taken = columns.take(cells); !taken)
    return fail(fmt::format("'{}': {}", file.string(), taken.error().message));
  for (uint64_t number = 1; (status = sqlite3_step(prepared)) == SQLITE_ROW; ++number) {
    for (size_t column = 0; column < cells.size(); ++column)
      cells[column] = textOf(prepared, static_cast<int>(column));
    const auto row = columns.rowOf(cells);
    if (!row)
      return fail(fmt::format("'{}', row {}: {}", file.string(), number, row.error().message));
    f(*row);
  }
  return status == SQLITE_DONE ? Result<void>() : refuse();
}

} // namespace

bool isDumpFile(const std::filesystem::path &file) { return file.extension() == ".csv" || file.extension() == ".db"; }

Result<void> forEachForeignRow(std::istream &in, const std::string &name,
                               const std::function<void(const ForeignRow &)> &f) {
  CsvReader csv(in, name);
  Columns columns;
  if (!MSL_TRY(csv.next()))
    return csv.fault("the file is empty");
  if (const auto taken = columns.take(csv.cells()); !taken)
    return csv.fault(taken.error().message);
  while (MSL_TRY(csv.next())) {
    std::vector<std::string> &cells = csv.cells();
    if (cells.size() == 1 && cells[0].empty())
      continue;
    if (cells.size() < columns.count())
      return csv.fault("it has too few cells: the file was cut, or a quote is missing");
    joinName(cells, columns);
    const auto row = columns.rowOf(cells);
    if (!row)
      return csv.fault(row.error().message);
    f(*row);
  }
  return {};
}

Result<void> forEachForeignRow(const std::filesystem::path &file, const std::function<void(const ForeignRow &)> &f) {
  if (file.extension() == ".db")
    return forEachDatabaseRow(file, f);
  std::ifstream in(file, std::ios::binary);
  return in ? forEachForeignRow(in, file.string(), f) : fail(fmt::format("cannot read '{}'", file.string()));
}

} // namespace msleaks::analysis::inline importers
