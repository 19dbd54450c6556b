#include "analysis/text/table.h"

#include "analysis/base/text.h"
#include "analysis/text/report_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <ostream>

namespace msleaks::analysis::inline text {

struct TextTable::Column {
  const char *name, *heading;
  size_t width; // width of the column with the blank before it
  std::string (*text)(const TableRow &, uint64_t whole, uint64_t sum);
};

// With the first four columns and the two blanks after them, the place begins in column 30.
const std::vector<TextTable::Column> &TextTable::all() {
  static const std::vector<Column> kColumns = {
      {"bytes", "bytes", 9, [](const TableRow &row, uint64_t, uint64_t) { return bytesText(row.bytes); }},
      {"share", "%", 5, [](const TableRow &row, uint64_t whole, uint64_t) { return percentText(row.bytes, whole); }},
      {"sum", "sum", 5, [](const TableRow &, uint64_t whole, uint64_t sum) { return percentText(sum, whole); }},
      {"blocks", "blocks", 8, [](const TableRow &row, uint64_t, uint64_t) { return shortCountText(row.count); }},
      {"oldest", "oldest", 9,
       [](const TableRow &row, uint64_t, uint64_t) {
         return row.oldest_age_ns == 0 ? std::string() : durationText(row.oldest_age_ns);
       }},
      {"largest", "largest", 10,
       [](const TableRow &row, uint64_t, uint64_t) {
         return row.largest_bytes == 0 ? std::string() : bytesText(row.largest_bytes);
       }},
  };
  return kColumns;
}

std::vector<std::string> rowColumns() { return {"bytes", "share", "sum", "blocks", "oldest", "largest"}; }

TextTable::TextTable(std::ostream &out, const TableStyle &style)
    : out_(out), style_(style), columns_(std::max(style.columns, kLeastColumns)), indent_(2) {
  const std::vector<std::string> usual = {"bytes", "share", "sum", "blocks"};
  for (const std::string &name : style_.shown.empty() ? usual : style_.shown)
    for (const Column &column : all())
      if (column.name == name) {
        shown_.push_back(&column);
        indent_ += column.width;
      }
}

std::string TextTable::bold(const std::string &text) const {
  return style_.color ? fmt::format("\x1b[1m{}\x1b[0m", text) : text;
}

void TextTable::heading(const std::string &text) { out_ << '\n' << bold(text) << '\n'; }
void TextTable::line(const std::string &text) { out_ << text << '\n'; }

void TextTable::entry(const std::string &word, const std::string &text) {
  constexpr size_t kWord = 8;
  out_ << bold(fmt::format("{:<{}}", word, kWord));
  wrap(text, kWord, kWord);
}

void TextTable::paragraph(const std::string &start, const std::string &text) {
  out_ << start;
  wrap(text, start.size(), start.size());
}

void TextTable::pieces(const std::string &start, const std::vector<std::string> &list) {
  if (list.empty())
    return;
  out_ << start;
  flow(std::vector<std::string_view>(list.begin(), list.end()), start.size(), start.size());
}

// Writes text and breaks its lines at blanks. `at`: columns of the first line that are taken already.
void TextTable::wrap(const std::string &text, size_t at, size_t indent) {
  std::vector<std::string_view> words;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t space = rest.find(' ');
    words.push_back(rest.substr(0, space));
    rest.remove_prefix(space == std::string_view::npos ? rest.size() : space + 1);
  }
  flow(words, at, indent);
}

void TextTable::flow(std::span<const std::string_view> pieces, size_t at, size_t indent) {
  for (const std::string_view piece : pieces) {
    if (at > indent && at + 1 + widthOf(piece) > columns_) {
      out_ << '\n' << std::string(indent, ' ');
      at = indent;
    } else if (at > indent) {
      out_ << ' ';
      ++at;
    }
    out_ << piece;
    at += widthOf(piece);
  }
  out_ << '\n';
}

std::string TextTable::headingsOf(const std::string &what) const {
  std::string text;
  for (const Column *column : shown_)
    text += fmt::format("{:>{}}", column->heading, column->width);
  return text + "  " + what;
}

std::string TextTable::cellsOf(const TableRow &row, uint64_t whole, uint64_t sum) const {
  std::string text;
  for (const Column *column : shown_)
    text += fmt::format("{:>{}}", column->text(row, whole, sum), column->width);
  return text + "  ";
}

void TextTable::sort(std::vector<TableRow> &rows) const {
  const auto sortBy = [&](auto keyOf) {
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const TableRow &a, const TableRow &b) { return keyOf(a) > keyOf(b); });
  };
  if (style_.sort == "bytes")
    sortBy([](const TableRow &row) { return row.bytes; });
  else if (style_.sort == "count")
    sortBy([](const TableRow &row) { return row.count; });
  else if (style_.sort == "age")
    sortBy([](const TableRow &row) { return row.oldest_age_ns; });
  else if (style_.sort == "place")
    std::stable_sort(rows.begin(), rows.end(), [](const auto &a, const auto &b) { return a.text < b.text; });
}

void TextTable::rows(const std::string &what, std::vector<TableRow> rows, uint64_t whole, const std::string &others) {
  std::erase_if(rows, [&](const TableRow &row) { return row.bytes < style_.least_bytes; });
  sort(rows);
  const auto foreign =
      std::stable_partition(rows.begin(), rows.end(), [](const TableRow &row) { return !row.foreign; });
  line(bold(headingsOf(what)));
  uint64_t sum = 0;
  shownRows({rows.begin(), foreign}, whole, sum, others);
  shownRows({foreign, rows.end()}, whole, sum, others);
}

void TextTable::shownRows(std::span<const TableRow> rows, uint64_t whole, uint64_t &sum, const std::string &others) {
  const size_t shown = std::min(rows.size(), style_.top);
  for (const TableRow &row : rows.first(shown)) {
    sum += row.bytes;
    line(cellsOf(row, whole, sum) + row.text);
    for (const std::string &more : row.more)
      line(std::string(indent_, ' ') + more);
  }
  TableRow left;
  for (const TableRow &row : rows.subspan(shown)) {
    left.bytes += row.bytes;
    left.count += row.count;
  }
  if (shown == rows.size())
    return;
  sum += left.bytes;
  const size_t count = rows.size() - shown;
  line(cellsOf(left, whole, sum) + fmt::format("{} more {}{}", count, others, count == 1 ? "" : "s"));
}

} // namespace msleaks::analysis::inline text
