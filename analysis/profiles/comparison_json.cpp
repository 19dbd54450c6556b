#include "analysis/profiles/comparison.h"

#include <nlohmann/json.hpp>
#include <ostream>

namespace msleaks::analysis::profiles {
namespace {

using Json = nlohmann::json;

Json orNull(const std::optional<uint64_t> &value) { return value ? Json(*value) : Json(); }

Json functionOf(const ProfiledFunction *function) {
  return function ? Json{{"counters", function->counters}, {"length", function->lines.size()}} : Json();
}

// As a line of `msleaks profile code`.
Json lineOf(const ProfiledFunction *function, const ProfiledLine *line) {
  if (!function || !line)
    return {};
  Json counters = Json::object();
  size_t column = 0;
  for (const auto &[name, percent] : function->counters)
    counters[name] = line->shares[column++];
  return Json::array({std::move(counters), line->address, line->text});
}

} // namespace

void writeComparisonJson(std::ostream &out, const ProfileComparison &comparison) {
  Json counters = Json::array(), functions = Json::array();
  for (const ComparedCounter &counter : comparison.counters)
    counters.push_back({{"name", counter.name}, {"a", orNull(counter.first)}, {"b", orNull(counter.second)}});
  for (const ComparedFunction &function : comparison.functions) {
    Json lines = Json::array();
    for (const AlignedLines &pair : function.lines)
      lines.push_back({{"a", lineOf(function.first, pair.first)}, {"b", lineOf(function.second, pair.second)}});
    functions.push_back({{"name", function.name},
                         {"a", functionOf(function.first)},
                         {"b", functionOf(function.second)},
                         {"lines", std::move(lines)}});
  }
  const Json whole{
      {"counter", comparison.counter}, {"counters", std::move(counters)}, {"functions", std::move(functions)}};
  out << whole.dump(-1, ' ', true, Json::error_handler_t::replace) << '\n';
}

} // namespace msleaks::analysis::profiles
