#include "analysis/compare/verdict.h"
#include "analysis/compare/verdict_words.h"

#include <algorithm>
#include <functional>
#include <ostream>
#include <sstream>

namespace msleaks::analysis::inline compare {
namespace {

// Escapes the characters that have a meaning in XML, and the two that XML has not. A line break stays.
std::string xmlText(const std::string &text) {
  std::string escaped;
  for (size_t i = 0; i < text.size(); ++i) {
    const char character = text[i];
    const bool is_no_character =
        text.compare(i, 2, "\xef\xbf") == 0 && i + 2 < text.size() && (text[i + 2] == '\xbe' || text[i + 2] == '\xbf');
    if (is_no_character) {
      escaped += fmt::format("\\xef\\xbf\\x{:02x}", static_cast<unsigned char>(text[i + 2]));
      i += 2;
    } else if (character == '<' || character == '>' || character == '&' || character == '"') {
      escaped += fmt::format("&#{};", static_cast<int>(character));
    } else {
      escaped += character;
    }
  }
  return escaped;
}

std::string attributeText(const std::string &text) { return xmlText(printable(text)); }

struct TestCase {
  std::string name, message;
  GateResult judgement = GateResult::NotJudged;
  std::string details; // lines
};

std::string linesOf(const std::vector<PlaceFigures> &places) {
  std::string lines;
  for (const PlaceFigures &place : places)
    lines += fmt::format("{}: {} in {} {}\n", printable(nameOf(place)), bytesText(place.bytes), countText(place.count),
                         place.count == 1 ? "block" : "blocks");
  return lines;
}

std::string linesOf(const std::vector<PlaceChange> &changes) {
  std::string lines;
  for (const PlaceChange &change : changes)
    lines += fmt::format("{}: {}, in the baseline {}\n", printable(nameOf(change.place)), bytesText(change.now_bytes),
                         bytesText(change.before_bytes));
  return lines;
}

std::string detailsOf(const LimitGate &gate, const Verdict &verdict) {
  if (gate.name == "peak")
    return linesOf(verdict.peak_changes);
  return linesOf(gate.in_bytes ? verdict.leaking_places : verdict.new_places);
}

TestCase caseOf(const LimitGate &gate, const Verdict &verdict) {
  const std::string limit = limitText(gate);
  return {titleOf(gate), fmt::format("{}, limit: {}", numberText(gate, gate.now), limit.empty() ? "none" : limit),
          gate.judgement, detailsOf(gate, verdict)};
}

std::vector<TestCase> casesOf(const Verdict &verdict) {
  std::vector<TestCase> cases;
  for (const LimitGate &gate : verdict.gates)
    cases.push_back(caseOf(gate, verdict));
  std::string gaps = gapsText(verdict.gaps);
  if (!verdict.baseline_gaps.empty())
    gaps += fmt::format("; baseline: {}", gapsText(verdict.baseline_gaps));
  cases.push_back({"recording", gaps, verdict.recording, ""});
  return cases;
}

void writeCase(std::ostream &out, const TestCase &test, const std::string &program) {
  out << fmt::format("    <testcase classname=\"msleaks.{}\" name=\"{}\"", program, test.name);
  const std::string message = attributeText(test.message);
  if (test.judgement == GateResult::Passed)
    out << "/>\n";
  else if (test.judgement == GateResult::NotJudged)
    out << fmt::format("><skipped message=\"{}\"/></testcase>\n", message);
  else
    out << fmt::format(">\n      <failure type=\"limit\" message=\"{}\">{}</failure>\n    </testcase>\n", message,
                       xmlText(test.details));
}

} // namespace

void writeVerdictJunit(std::ostream &out, const Verdict &verdict) {
  const std::vector<TestCase> cases = casesOf(verdict);
  const std::string program =
      verdict.command.empty() ? "run" : attributeText(std::string(baseName(verdict.command.front())));
  const auto numberOf = [&](GateResult judgement) {
    return std::ranges::count(cases, judgement, &TestCase::judgement);
  };
  const std::string numbers = fmt::format("tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\"", cases.size(),
                                          numberOf(GateResult::Failed), numberOf(GateResult::NotJudged));
  out << fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"msleaks check\" {0}>\n"
                     "  <testsuite name=\"msleaks check {1}\" {0}>\n",
                     numbers, program);
  for (const TestCase &test : cases)
    writeCase(out, test, program);
  std::ostringstream table;
  writeVerdictMarkdown(table, verdict);
  out << fmt::format("    <system-out>{}</system-out>\n  </testsuite>\n</testsuites>\n", xmlText(table.str()));
}

} // namespace msleaks::analysis::inline compare
