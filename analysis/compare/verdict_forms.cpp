#include "analysis/base/text.h"
#include "analysis/compare/figures.h"
#include "analysis/compare/verdict.h"
#include "analysis/compare/verdict_words.h"
#include "analysis/text/site_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <ostream>
#include <span>

namespace msleaks::analysis::inline compare {
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

namespace {

constexpr size_t kMostRows = 20, kWidestFunction = 100;

// Formats the text as code, so that no character of a name is markup. A bar is escaped, because it would end the cell
// of a table.
std::string code(const std::string &text) {
  std::string shown;
  for (const char character : printable(text))
    shown += character == '|' ? std::string("\\|") : std::string(1, character == '`' ? '\'' : character);
  return "`" + shown + "`";
}

// Returns a text like "+1.00 KiB (+2.1%)" or "none".
std::string changeText(uint64_t before, uint64_t now, bool in_bytes) {
  if (before == now)
    return "none";
  const uint64_t size = std::max(before, now) - std::min(before, now);
  const char sign = now > before ? '+' : '-';
  std::string text = fmt::format("{}{}", sign, in_bytes ? bytesText(size) : countText(size));
  if (before == 0)
    return text;
  const double percent = 100.0 * static_cast<double>(size) / static_cast<double>(before);
  return percent < 0.05 ? fmt::format("{} ({}<0.1%)", text, sign) : fmt::format("{} ({}{:.1f}%)", text, sign, percent);
}

std::string judgementText(GateResult judgement) {
  return judgement == GateResult::Failed ? "**failed**" : nameOf(judgement);
}

std::string rowOf(const LimitGate &gate, const Verdict &verdict) {
  std::string change = gate.baseline ? changeText(*gate.baseline, gate.now, gate.in_bytes) : "";
  if (!gate.in_bytes && verdict.has_baseline)
    change = fmt::format("{} new, {} gone", verdict.new_places.size(), verdict.gone_places.size());
  return fmt::format("| {} | {} | {} | {} | {} | {} |\n", titleOf(gate),
                     gate.baseline ? numberText(gate, *gate.baseline) : "", numberText(gate, gate.now), change,
                     limitText(gate), judgementText(gate.judgement));
}

std::string recordingRow(const Verdict &verdict) {
  return fmt::format("| recording | {} | {} | | complete | {} |\n",
                     verdict.has_baseline ? gapsText(verdict.baseline_gaps) : "", gapsText(verdict.gaps),
                     judgementText(verdict.recording));
}

std::string placeText(const PlaceFigures &place) {
  return code(nameOf(place)) + (place.child.empty() ? "" : " of " + code(place.child));
}

// Returns a text like "`net::grow` -> `weights` (`float`)": the function of the place, the variable and the type.
std::string purposeText(const PlaceFigures &place) {
  std::string text = place.function.empty() ? "" : code(shortFunction(place.function, kWidestFunction));
  if (!place.variable.empty())
    text += fmt::format("{}-> {}", text.empty() ? "" : " ", code(place.variable));
  if (!place.type.empty())
    text += fmt::format("{}({})", text.empty() ? "" : " ", code(place.type));
  return text;
}

bool hasTooManyLeaks(const Verdict &verdict) {
  return std::any_of(verdict.gates.begin(), verdict.gates.end(), [](const LimitGate &gate) {
    return gate.name != "peak" && gate.in_bytes && gate.judgement == GateResult::Failed;
  });
}

void writeMore(std::ostream &out, size_t rows) {
  if (rows > kMostRows)
    out << fmt::format("\nand {} more: `--json` has them all.\n", rows - kMostRows);
}

void writePlaces(std::ostream &out, const char *title, const std::vector<PlaceFigures> &places) {
  if (places.empty())
    return;
  out << fmt::format("\n**{}**\n\n| place | bytes | blocks | in |\n|---|---:|---:|---|\n", title);
  for (const PlaceFigures &place : std::span(places).first(std::min(places.size(), kMostRows)))
    out << fmt::format("| {} | {} | {} | {} |\n", placeText(place), bytesText(place.bytes), countText(place.count),
                       purposeText(place));
  writeMore(out, places.size());
}

void writeChanges(std::ostream &out, const char *title, const std::vector<PlaceChange> &changes) {
  if (changes.empty())
    return;
  out << fmt::format("\n**{}**\n\n| place | baseline | now | change | in |\n|---|---:|---:|---:|---|\n", title);
  for (const PlaceChange &change : std::span(changes).first(std::min(changes.size(), kMostRows)))
    out << fmt::format("| {} | {} | {} | {} | {} |\n", placeText(change.place), bytesText(change.before_bytes),
                       bytesText(change.now_bytes), changeText(change.before_bytes, change.now_bytes, true),
                       purposeText(change.place));
  writeMore(out, changes.size());
}

} // namespace

void writeVerdictMarkdown(std::ostream &out, const Verdict &verdict) {
  out << fmt::format("### msleaks check: {}\n\n", verdict.passed() ? "passed" : "failed");
  if (!verdict.command.empty())
    out << code(cutEnd(printable(fmt::format("{}", fmt::join(verdict.command, " "))), 400)) << "\n\n";
  out << "| | baseline | now | change | limit | verdict |\n|---|---:|---:|---:|---:|---|\n";
  for (const LimitGate &gate : verdict.gates)
    out << rowOf(gate, verdict);
  out << recordingRow(verdict);
  writePlaces(out, "New leaking places", verdict.new_places);
  writeChanges(out, "Places that leak more", verdict.grown_leaks);
  if (!verdict.has_baseline || hasTooManyLeaks(verdict))
    writePlaces(out, "All leaking places", verdict.leaking_places);
  writeChanges(out, "What changed at the peak", verdict.peak_changes);
  if (!verdict.notes.empty())
    out << '\n';
  for (const std::string &note : verdict.notes)
    out << fmt::format("- {}\n", printable(note));
}

} // namespace msleaks::analysis::inline compare
