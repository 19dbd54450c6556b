#include "analysis/result/series.h"

#include "analysis/base/json_fields.h"

#include <fmt/format.h>
#include <ostream>
#include <utility>

namespace msleaks::analysis::inline result {

// Lists each field of the file once, for writing and reading.
template <class Visitor, IsOrConst<Series::Curve> Curve> static void visitFields(Visitor &&visit, Curve &curve) {
  visit("by", curve.by);
  visit("name", curve.name);
  visit("others", curve.others);
  visit("heap", curve.heap);
  visit("device", curve.device);
  visit("peak_bytes", curve.peak_bytes);
  visit("bytes", curve.bytes);
}

template <class Visitor, IsOrConst<Series::Step> Step> static void visitFields(Visitor &&visit, Step &step) {
  visit("process", step.process);
  visit("pid", step.pid);
  visit("first", step.first);
  visit("last", step.last);
  visit("steps", step.steps);
  visit("begin_ns", step.begin_ns);
  visit("end_ns", step.end_ns);
  visit("peak_bytes", step.peak_bytes);
  visit("end_bytes", step.end_bytes);
  visit("launches", step.launches);
}

template <class Visitor, IsOrConst<Series> S> static void visitFields(Visitor &&visit, S &series) {
  visit("series_version", series.version);
  visit("error_bytes", series.error_bytes);
  visit("moments", series.moments);
  visit("curves", series.curves);
  visit("steps", series.steps);
  visit("steps_left_out", series.steps_left_out);
}

// Writes a line for each curve and step: nobody could read one long line, or one line for each number.
void writeSeriesJson(std::ostream &to, const Series &series) {
  const auto text = [](const OrderedJson &json) {
    return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
  };
  const OrderedJson object = toJson(series);
  const char *before = "{\n";
  for (const auto &[key, value] : object.items()) {
    to << std::exchange(before, ",\n") << fmt::format("  \"{}\": ", key);
    if (!value.is_array() || value.empty() || !value.front().is_object()) {
      to << text(value);
      continue;
    }
    const char *before_item = "[\n    ";
    for (const OrderedJson &item : value)
      to << std::exchange(before_item, ",\n    ") << text(item);
    to << "\n  ]";
  }
  to << "\n}\n";
}

Result<Series> parseSeries(std::string_view text, const std::string &where) {
  const OrderedJson object = OrderedJson::parse(text.begin(), text.end(), nullptr, false);
  Series series;
  series.version = 0;
  std::string wrong;
  if (object.is_object())
    visitFields(FieldReader(object, "", wrong), series);
  if (series.version == 0)
    return fail(fmt::format("'{}' is not the series of a run", where));
  if (series.version > kSeriesVersion)
    return fail(
        fmt::format("'{}' was written by a newer msleaks (series version {}, this one reads up to {}): use that "
                    "version or a later one to read it",
                    where, series.version, kSeriesVersion));
  if (!wrong.empty())
    return fail(fmt::format("'{}': {} does not have the type of its field", where, wrong));
  return series;
}

} // namespace msleaks::analysis::inline result
