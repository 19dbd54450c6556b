// Writes text and rows of tables in lines of a limited width.
#pragma once

#include "analysis/result/report.h"
#include "analysis/text/report_text.h"

#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace msleaks::analysis::inline text {

inline constexpr size_t kLeastColumns = 50; // on narrower terminals, lines wrap

// A row of a table of places. The text after the numbers begins within the first 30 columns.
struct TableRow {
  uint64_t bytes = 0, count = 0;
  uint64_t oldest_age_ns = 0, largest_bytes = 0; // 0: not known
  std::string text = {};                         // the place, or a name
  std::vector<std::string> more = {};            // lines below the row
  bool foreign = false;                          // not the user's own code: these rows come last, and are counted apart
};

class TextTable {
public:
  TextTable(std::ostream &out, const TableStyle &style);

  size_t columns() const { return columns_; }
  size_t roomForText() const { return columns_ - indent_; }
  const TableStyle &style() const { return style_; }

  void heading(const std::string &text);
  // Writes a word at the left, and the text after it in wrapped lines.
  void entry(const std::string &word, const std::string &text);
  // Writes the text after `start` in wrapped lines.
  void paragraph(const std::string &start, const std::string &text);
  // Writes the pieces after `start`: as many in a line as fit. No piece is broken.
  void pieces(const std::string &start, const std::vector<std::string> &list);
  void line(const std::string &text);
  // Writes rows below one line of headings. `whole` is 100 %. The style limits the number of own rows, and also the
  // number of foreign rows. All further ones of each are one line about `others`.
  void rows(const std::string &what, std::vector<TableRow> rows, uint64_t whole, const std::string &others);

private:
  struct Column;
  static const std::vector<Column> &all();
  std::string headingsOf(const std::string &what) const;
  std::string cellsOf(const TableRow &row, uint64_t whole, uint64_t sum) const;
  void sort(std::vector<TableRow> &rows) const;
  void shownRows(std::span<const TableRow> rows, uint64_t whole, uint64_t &sum, const std::string &others);
  void wrap(const std::string &text, size_t at, size_t indent);
  void flow(std::span<const std::string_view> pieces, size_t at, size_t indent);
  std::string bold(const std::string &text) const;

  std::ostream &out_;
  TableStyle style_;
  size_t columns_, indent_;
  std::vector<const Column *> shown_;
};

} // namespace msleaks::analysis::inline text
