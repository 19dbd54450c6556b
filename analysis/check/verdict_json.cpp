#include "analysis/check/verdict.h"

#include "analysis/check/figures_fields.h"

#include <ostream>

namespace msleaks::analysis {
namespace {

OrderedJson jsonOf(const LimitGate &gate) {
  return {{"name", gate.name},
          {"unit", gate.in_bytes ? "bytes" : "count"},
          {"baseline", toJson(gate.baseline)},
          {"now", gate.now},
          {"most", toJson(gate.most)},
          {"verdict", nameOf(gate.judgement)}};
}

OrderedJson jsonOf(const PlaceChange &change) {
  OrderedJson json = toJson(change.place);
  json["before_bytes"] = change.before_bytes;
  json["now_bytes"] = change.now_bytes;
  return json;
}

template <class List> OrderedJson listOf(const List &list) {
  OrderedJson array = OrderedJson::array();
  for (const auto &item : list)
    array.push_back(jsonOf(item));
  return array;
}

} // namespace

void writeVerdictJson(std::ostream &out, const Verdict &verdict) {
  const OrderedJson json = {
      {"passed", verdict.passed()},
      {"command", verdict.command},
      {"gates", listOf(verdict.gates)},
      {"recording",
       {{"verdict", nameOf(verdict.recording)}, {"gaps", verdict.gaps}, {"baseline_gaps", verdict.baseline_gaps}}},
      {"leaking_places", toJson(verdict.leaking_places)},
      {"new_places", toJson(verdict.new_places)},
      {"gone_places", toJson(verdict.gone_places)},
      {"grown_leaks", listOf(verdict.grown_leaks)},
      {"peak_changes", listOf(verdict.peak_changes)},
      {"notes", verdict.notes}};
  out << json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) << '\n';
}

} // namespace msleaks::analysis
