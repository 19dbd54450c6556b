#include "analysis/page/page_tables.h"

#include "analysis/text/site_text.h"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace msleaks::analysis::inline page {
namespace {

struct CellJson {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(uint64_t number) const { return number; }
  Json operator()(double number) const { return number; }
  Json operator()(const std::string &text) const { return text; }
  Json operator()(const std::shared_ptr<const SiteText> &site) const {
    return site ? Json(placeAndNameOf(*site, kPlaceColumns)) : Json();
  }
};

Json tableOf(const Section &section) {
  std::vector<TableColumn> columns;
  for (const Column &column : section.columns)
    columns.push_back({column.name, column.unit});
  Json rows = Json::array();
  for (size_t i = 0; i < section.rows.size() && i < kMostRows; ++i) {
    Json row = Json::array();
    for (const Cell &cell : section.rows[i])
      row.push_back(std::visit(CellJson(), cell));
    rows.push_back(std::move(row));
  }
  return tableJson(section.name, section.title, columns, std::move(rows), section.rows.size());
}

template <class Lines> Json tableOf(std::string_view name, std::string_view title, const Lines &lines) {
  Json rows = Json::array();
  for (size_t i = 0; i < lines.size() && i < kMostRows; ++i)
    rows.push_back({placeAndNameOf(lines[i].site, kPlaceColumns), lines[i].bytes, lines[i].count});
  return tableJson(name, title, {{"place", Unit::Place}, {"bytes", Unit::Bytes}, {"blocks", Unit::Count}},
                   std::move(rows), lines.size());
}

Json environmentOf(const std::vector<NamedText> &environment) {
  Json rows = Json::array();
  for (const NamedText &fact : environment)
    rows.push_back(Json::array({fact.name, fact.text}));
  return tableJson("environment", "Environment", {{"fact", Unit::Text}, {"value", Unit::Text}}, std::move(rows),
                   environment.size());
}

} // namespace

Json tableJson(std::string_view name, std::string_view title, const std::vector<TableColumn> &columns, Json rows,
               size_t rows_in_all) {
  Json heads = Json::array();
  for (const TableColumn &column : columns)
    heads.push_back({{"name", column.name}, {"unit", nameOf(column.unit)}});
  return {{"name", name},
          {"title", title},
          {"columns", std::move(heads)},
          {"rows", std::move(rows)},
          {"rows_in_all", rows_in_all}};
}

Json tablesOf(const Report &report) {
  Json tables = Json::array();
  tables.push_back(tableOf("peak", "At the peak", report.peak.by_site));
  if (!report.leaks.by_site.empty())
    tables.push_back(tableOf("leaks", "Alive at the end", report.leaks.by_site));
  for (const Section &section : report.sections)
    tables.push_back(tableOf(section));
  tables.push_back(environmentOf(report.environment));
  return tables;
}

} // namespace msleaks::analysis::inline page
