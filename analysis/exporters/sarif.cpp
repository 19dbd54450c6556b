// sarif: the findings as results of static analysis tools, for code hosts and editors (docs/formats.md).
#include "analysis/base/text.h"
#include "analysis/exporters/numbered.h"
#include "analysis/exporters/path_exporter.h"
#include "analysis/exporters/registry.h"
#include "analysis/result/finding_kinds.h"
#include "analysis/result/writer.h"
#include "analysis/text/finding_title.h"
#include "analysis/text/parts.h"

#include <cctype>
#include <ostream>
#include <ranges>

namespace msleaks::analysis::inline exporters {
namespace {

constexpr char kSarifSchema[] = "https://json.schemastore.org/sarif-2.1.0.json";
constexpr char kSarifVersion[] = "2.1.0";

// Returns the text of a message. In SARIF, braces have a meaning unless they are doubled.
std::string messageText(std::string_view text) {
  std::string escaped;
  for (const char character : printable(text))
    escaped += character == '{' || character == '}' ? std::string(2, character) : std::string(1, character);
  return escaped;
}

Json messageOf(std::string_view text) { return {{"text", messageText(text)}}; }

// Returns the path as a reference of RFC 3986. All bytes of the path can be read back.
std::string uriOf(std::string_view path) {
  constexpr std::string_view kPlain = "/-._~";
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char character : path) {
    const auto byte = static_cast<unsigned char>(character);
    const bool is_plain = byte < 0x80 && (std::isalnum(byte) != 0 || kPlain.find(character) != std::string_view::npos);
    uri += is_plain ? std::string(1, character) : fmt::format("%{:02X}", byte);
  }
  return uri;
}

// Returns the file and the line. Without a file, returns the library and the offset there.
Json physicalPlaceOf(const SiteText &call, const FrameText &frame, const Report &report) {
  if (!frame.file.empty()) {
    Json place{{"artifactLocation", {{"uri", uriOf(frame.file)}}}};
    if (frame.line != 0)
      place["region"]["startLine"] = frame.line;
    if (frame.line != 0 && frame.column != 0)
      place["region"]["startColumn"] = frame.column;
    return place;
  }
  std::string file = call.library;
  if (file.empty() && !report.command.empty())
    file = report.command.front(); // code hosts refuse a result without a file
  Json place{{"artifactLocation", {{"uri", uriOf(file.empty() ? "unknown" : file)}}}};
  if (!call.library.empty() && call.offset != 0)
    place["address"] = {{"relativeAddress", call.offset}, {"kind", "instruction"}};
  return place;
}

Json placeOfFrame(const SiteText &call, const FrameText &frame, const Report &report) {
  Json place{{"physicalLocation", physicalPlaceOf(call, frame, report)}};
  if (!frame.function.empty())
    place["logicalLocations"] =
        Json::array({{{"fullyQualifiedName", printable(frame.function)}, {"kind", "function"}}});
  return place;
}

// Returns each function of the path, the innermost first.
std::vector<Json> placesOf(const PathLine &path, const Report &report) {
  std::vector<Json> places;
  for (const auto &call : path.calls) {
    const auto add = [&](const FrameText &frame) {
      Json &place = places.emplace_back(placeOfFrame(*call, frame, report));
      place["message"] = messageOf(functionOf(*call, frame));
    };
    add(*call);
    for (const FrameText &inlined : call->inlined_at)
      add(inlined);
  }
  return places;
}

Json stackOf(const PathLine &path, const Report &report) {
  Json frames = Json::array();
  for (Json &place : placesOf(path, report))
    frames.push_back({{"location", std::move(place)}});
  return {{"message", messageOf(fmt::format("{}, {}", blocksText(path.count), bytesText(path.bytes)))},
          {"frames", std::move(frames)}};
}

// Viewers show this flow step by step, so it begins with the outermost call.
Json flowOf(const PathLine &path, const Report &report) {
  std::vector<Json> places = placesOf(path, report);
  Json steps = Json::array();
  for (Json &place : places | std::views::reverse)
    steps.push_back({{"location", std::move(place)}});
  const Json thread{{"locations", std::move(steps)}};
  return {{"threadFlows", Json::array({thread})}};
}

const char *levelOf(const Finding &finding) {
  switch (finding.confidence) {
  case Confidence::Proved:
    return "error";
  case Confidence::Likely:
    return "warning";
  case Confidence::Hint:
    return "note";
  }
  return "none";
}

Json propertiesOf(const Finding &finding, const Report &report) {
  return {{"confidence", nameOf(finding.confidence)},
          {"bytes", finding.bytes},
          {"count", finding.count},
          {"heap", abi::nameOf(finding.heap)},
          {"device", finding.device},
          {"saves_bytes", finding.saves_bytes},
          {"saves_cumulative_bytes", finding.saves_cumulative_bytes},
          {"saves_ns", finding.saves_ns},
          {"byte_seconds", finding.byte_seconds},
          {"owner", printable(finding.owner)},
          {"variable", printable(finding.site.variable)},
          {"type", printable(finding.site.type.empty() ? finding.allocator.type : finding.site.type)},
          {"evidence", jsonOf(finding.evidence, report)}};
}

std::string sentencesOf(const Finding &finding) {
  std::string text = titleOf(finding) + ".";
  for (const std::string &sentence : {savingOf(finding), printable(finding.advice)})
    if (!sentence.empty())
      text += " " + sentence;
  return text;
}

Json resultOf(const Finding &finding, size_t rule, const Report &report) {
  Json json{{"ruleId", printable(finding.kind)},
            {"ruleIndex", rule},
            {"level", levelOf(finding)},
            {"message", messageOf(sentencesOf(finding))},
            {"locations", Json::array({placeOfFrame(finding.site, finding.site, report)})},
            {"partialFingerprints", {{"msleaksFinding/v1", printable(finding.id)}}},
            {"properties", propertiesOf(finding, report)}};
  Json stacks = Json::array();
  for (const PathLine &path : finding.paths)
    if (!path.calls.empty())
      stacks.push_back(stackOf(path, report));
  if (!stacks.empty()) {
    json["codeFlows"] = Json::array({flowOf(finding.paths.front(), report)});
    json["stacks"] = std::move(stacks);
  }
  return json;
}

// Returns the first sentence about the kind in the table of kinds, without links. Empty: the user's own analyzer.
std::string subjectOf(std::string_view kind) {
  std::string subject;
#define MSL_FINDING_KIND(Kind, name, concern, page, text)                                                              \
  if (kind == (name))                                                                                                  \
    subject = text;
#include "analysis/result/finding_kinds.def"
#undef MSL_FINDING_KIND
  subject = subject.substr(0, subject.find(". "));
  for (size_t begin = 0; (begin = subject.find('[')) != std::string::npos;) {
    const size_t middle = subject.find("](", begin), end = subject.find(')', middle);
    subject = subject.substr(0, begin) + subject.substr(begin + 1, middle - begin - 1) + subject.substr(end + 1);
  }
  return subject;
}

Json rulesOf(const Numbered<std::string> &kinds) {
  Json rules = Json::array();
  for (const std::string *kind : kinds.items()) {
    Json &rule = rules.emplace_back(Json{{"id", *kind}});
    const std::string subject = subjectOf(*kind);
    if (!subject.empty())
      rule["shortDescription"] = messageOf(subject);
  }
  return rules;
}

Json invocationOf(const Report &report) {
  Json invocation{{"executionSuccessful", true}};
  for (const std::string &damage : report.damage)
    invocation["toolExecutionNotifications"].push_back({{"level", "warning"}, {"message", messageOf(damage)}});
  return invocation;
}

class SarifExporter final : public ReportExporter {
public:
  bool hasMoments() const override { return false; }
  void write(const Report &report, std::ostream &out) override {
    Numbered<std::string> kinds;
    Json results = Json::array();
    for (const Finding &finding : report.findings)
      results.push_back(resultOf(finding, kinds.numberOf(printable(finding.kind)), report));
    const Json run{{"tool", {{"driver", {{"name", "msleaks"}, {"rules", rulesOf(kinds)}}}}},
                   {"invocations", Json::array({invocationOf(report)})},
                   {"columnKind", "unicodeCodePoints"},
                   {"results", std::move(results)},
                   {"properties",
                    {{"command", commandOf(report)},
                     {"peak_bytes", report.peak.bytes},
                     {"leaked_bytes", report.leaks.sum.bytes}}}};
    const Json file{{"$schema", kSarifSchema}, {"version", kSarifVersion}, {"runs", Json::array({run})}};
    analysis::result::write(out, file, -1);
    out << '\n';
  }
};

} // namespace

MSL_REGISTER_EXPORTER(sarif, "the findings, for code hosts and editors (SARIF 2.1.0)", SarifExporter)

} // namespace msleaks::analysis::inline exporters
