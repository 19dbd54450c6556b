#include "analysis/check/figures.h"

#include "analysis/check/figures_fields.h"

#include <fmt/format.h>

namespace msleaks::analysis {

// Each field of the file once, for both directions (docs/check.md).
template <class Visitor, IsOrConst<PeakFigures> Peak> static void visitFields(Visitor &&visit, Peak &peak) {
  visit("bytes", peak.bytes);
  visit("places", peak.places);
}

template <class Visitor, IsOrConst<LeakFigures> Leaks> static void visitFields(Visitor &&visit, Leaks &leaks) {
  visit("bytes", leaks.bytes);
  visit("count", leaks.count);
  visit("pool_bytes", leaks.pool_bytes);
  visit("pool_count", leaks.pool_count);
  visit("places", leaks.places);
}

template <class Visitor, IsOrConst<RunFigures> Figures> static void visitFields(Visitor &&visit, Figures &figures) {
  visit("command", figures.command);
  visit("exit", figures.exit);
  visit("gaps", figures.gaps);
  visit("peak", figures.peak);
  visit("leaks", figures.leaks);
}

namespace {

constexpr const char kFormat[] = "msleaks check";

// The mark that tells the file from any other.
struct Head {
  std::string format;
  uint32_t version = 0;
};

} // namespace

template <class Visitor, IsOrConst<Head> H> static void visitFields(Visitor &&visit, H &head) {
  visit("format", head.format);
  visit("version", head.version);
}

std::string formatFigures(const RunFigures &figures) {
  OrderedJson json = toJson(Head{kFormat, kFiguresVersion});
  json.update(toJson(figures));
  return json.dump(1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

bool isFigures(std::string_view text) {
  constexpr size_t kHead = 100;
  return text.substr(0, kHead).find(fmt::format("\"{}\"", kFormat)) != std::string_view::npos;
}

Result<RunFigures> parseFigures(std::string_view text, const std::string &where) {
  const OrderedJson json = OrderedJson::parse(text.begin(), text.end(), nullptr, false);
  Head head;
  std::string wrong;
  if (json.is_object())
    visitFields(FieldReader(json, "", wrong), head);
  if (head.format != kFormat || head.version == 0)
    return fail(
        fmt::format("'{}' is neither a run nor a file that msleaks check --save wrote, or it is damaged", where));
  if (head.version > kFiguresVersion)
    return fail(fmt::format("'{}' was written by a newer msleaks (version {}, this one reads up to {}): use that "
                            "version or a later one",
                            where, head.version, kFiguresVersion));
  RunFigures figures;
  for (const char *part : {"peak", "leaks"})
    if (!json.contains(part))
      return fail(fmt::format("'{}': {} is missing: save it again", where, part));
  visitFields(FieldReader(json, "", wrong), figures);
  if (!wrong.empty())
    return fail(fmt::format("'{}': {} does not have the type of its field: save it again", where, wrong));
  return figures;
}

} // namespace msleaks::analysis
