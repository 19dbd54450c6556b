#include "analysis/result/section.h"

#include <algorithm>
#include <map>

namespace msleaks::analysis::inline result {
namespace {

void fold(Cell &into, const Cell &from, Fold how) {
  if (std::holds_alternative<std::monostate>(into)) {
    into = from;
    return;
  }
  const auto both = [&]<class T>(T) {
    if (!std::holds_alternative<T>(into) || !std::holds_alternative<T>(from))
      return;
    T &value = std::get<T>(into);
    const T other = std::get<T>(from);
    if (how == Fold::Sum)
      value += other;
    else if (how == Fold::Largest)
      value = std::max(value, other);
  };
  both(uint64_t{});
  both(double{});
}

// The key of a cell, as text. For a site, all facts that a report shows about it.
std::string keyOf(const Cell &cell) {
  if (const auto *text = std::get_if<std::string>(&cell))
    return *text;
  if (const auto *number = std::get_if<uint64_t>(&cell))
    return std::to_string(*number);
  const auto *shared = std::get_if<std::shared_ptr<const SiteText>>(&cell);
  if (shared == nullptr || *shared == nullptr)
    return {};
  const SiteText &site = **shared;
  std::string key;
  for (const std::string &part : {site.file, site.function, site.variable, site.type, site.library})
    key.append(part).push_back('\0');
  for (const uint64_t part : {uint64_t{site.line}, uint64_t{site.column}, site.offset})
    key.append(std::to_string(part)).push_back('\0');
  return key;
}

std::vector<std::string> keyOf(const Section &section, const std::vector<Cell> &row) {
  std::vector<std::string> key;
  for (size_t i = 0; i < section.columns.size(); ++i)
    if (section.columns[i].fold == Fold::Key)
      key.push_back(keyOf(row[i]));
  return key;
}

} // namespace

const char *nameOf(Unit unit) {
  switch (unit) {
  case Unit::Text:
    return "text";
  case Unit::Place:
    return "place";
  case Unit::Count:
    return "count";
  case Unit::Bytes:
    return "bytes";
  case Unit::TimeNs:
    return "ns";
  case Unit::ByteSeconds:
    return "byte-seconds";
  }
  return "";
}

std::vector<Cell> Section::totals() const {
  std::vector<Cell> all(columns.size());
  for (size_t i = 0; i < columns.size(); ++i)
    if (const Fold how = columns[i].fold; how == Fold::Sum || how == Fold::Largest)
      for (const std::vector<Cell> &row : rows)
        fold(all[i], row[i], how);
  return all;
}

Section &Section::operator+=(const Section &other) {
  std::map<std::vector<std::string>, size_t> known;
  for (size_t row = 0; row < rows.size(); ++row)
    known.emplace(keyOf(*this, rows[row]), row);
  for (const std::vector<Cell> &row : other.rows) {
    const auto [at, fresh] = known.emplace(keyOf(other, row), rows.size());
    if (fresh) {
      rows.push_back(row);
      continue;
    }
    for (size_t i = 0; i < columns.size(); ++i)
      if (columns[i].fold != Fold::Key && columns[i].fold != Fold::First)
        fold(rows[at->second][i], row[i], columns[i].fold);
  }
  return *this;
}

} // namespace msleaks::analysis::inline result
