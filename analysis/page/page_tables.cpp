#include "analysis/page/page_tables.h"

#include "analysis/text/site_text.h"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace msleaks::analysis::inline page {
namespace {

constexpr size_t kMostRows = 200;
constexpr size_t kPlaceColumns = 160; // of a place

struct CellJson {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(uint64_t number) const { return number; }
  Json operator()(double number) const { return number; }
  Json operator()(const std::string &text) const { return text; }
  Json operator()(const std::shared_ptr<const SiteText> &site) const {
    return site ? Json(placeAndNameOf(*site, kPlaceColumns)) : Json();
  }
};

Json columnOf(std::string_view name, Unit unit) { return {{"name", name}, {"unit", nameOf(unit)}}; }

Json tableOf(const Section &section) {
  Json columns = Json::array(), rows = Json::array();
  for (const Column &column : section.columns)
    columns.push_back(columnOf(column.name, column.unit));
  for (size_t i = 0; i < section.rows.size() && i < kMostRows; ++i) {
    Json row = Json::array();
    for (const Cell &cell : section.rows[i])
      row.push_back(std::visit(CellJson(), cell));
    rows.push_back(std::move(row));
  }
  return {{"name", section.name},
          {"title", section.title},
          {"columns", std::move(columns)},
          {"rows", std::move(rows)},
          {"rows_in_all", section.rows.size()}};
}

template <class Lines> Json tableOf(std::string_view name, std::string_view title, const Lines &lines) {
  Json rows = Json::array();
  for (size_t i = 0; i < lines.size() && i < kMostRows; ++i)
    rows.push_back({placeAndNameOf(lines[i].site, kPlaceColumns), lines[i].bytes, lines[i].count});
  return {
      {"name", name},
      {"title", title},
      {"columns", {columnOf("place", Unit::Place), columnOf("bytes", Unit::Bytes), columnOf("blocks", Unit::Count)}},
      {"rows", std::move(rows)},
      {"rows_in_all", lines.size()}};
}

} // namespace

Json tablesOf(const Report &report) {
  Json tables = Json::array();
  tables.push_back(tableOf("peak", "At the peak", report.peak.by_site));
  if (!report.leaks.by_site.empty())
    tables.push_back(tableOf("leaks", "Alive at the end", report.leaks.by_site));
  for (const Section &section : report.sections)
    tables.push_back(tableOf(section));
  return tables;
}

} // namespace msleaks::analysis::inline page
