#include "analysis/base/text.h"
#include "analysis/result/writer.h"
#include "analysis/second_run/allocation_place.h"
#include "analysis/second_run/verification.h"
#include "analysis/text/callers.h"
#include "analysis/text/site_text.h"

#include <fmt/format.h>

namespace msleaks::analysis::inline second_run {
namespace {

constexpr size_t kMargin = 10, kShownPlaces = 4;

using Calls = std::vector<SiteText>; // innermost first

Json jsonOf(const TouchPath &path) { return {{"blocks", path.blocks}, {"frames", framesJson(path.calls)}}; }

Json jsonOf(const WritePath &path) {
  return {{"writes", path.writes},
          {"offset", path.begin},
          {"bytes", path.end - path.begin},
          {"by", path.by_call ? "call" : "instruction"},
          {"given", path.given},
          {"operation", path.operation.empty() ? Json() : Json(path.operation)},
          {"step", path.step ? Json(*path.step) : Json()},
          {"frames", framesJson(path.calls)}};
}

// Returns the most important calls: the ones that first touched or wrote the block.
const Calls *callsOf(const Verification &verification) {
  if (!verification.touches.empty())
    return &verification.touches.front().calls;
  return verification.writes && !verification.writes->paths.empty() ? &verification.writes->paths.front().calls
                                                                    : nullptr;
}

Json siteOf(const Verification &verification) {
  const Calls *calls = callsOf(verification);
  return calls == nullptr || calls->empty() ? Json() : jsonOf((*calls)[ownCallOf(*calls)]);
}

// Returns the place and its callers in the form of a report.
SiteLine siteLineOf(const Calls &calls) {
  SiteLine line;
  line.site = calls[ownCallOf(calls)];
  PathLine &path = line.paths.emplace_back();
  path.complete = true;
  for (const SiteText &call : calls)
    path.calls.push_back(std::make_shared<const SiteText>(call));
  return line;
}

std::string lineOf(const SiteText &call, size_t columns) {
  const std::string name = nameOf(call, columns / 2);
  return placeOf(call, columns - std::min(columns, name.size() + 1)) + (name.empty() ? "" : " " + name);
}

} // namespace

void writeVerificationJson(std::ostream &to, const Verification &verification) {
  const GuardedSum &sum = verification.sum;
  Json paths = Json::array();
  for (const TouchPath &path : verification.touches)
    paths.push_back(jsonOf(path));
  if (verification.writes)
    for (const WritePath &path : verification.writes->paths)
      paths.push_back(jsonOf(path));
  const Json json = {{"finding", verification.finding},
                     {"kind", verification.kind},
                     {"result", nameOf(verification.judgement.outcome)},
                     {"why", verification.judgement.why},
                     {"site", siteOf(verification)},
                     {"paths", std::move(paths)},
                     {"allocated_at", jsonOf(verification.allocated_at)},
                     {"blocks", verification.writes ? verification.writes->blocks : sum.blocks},
                     {"bytes", verification.writes ? verification.writes->bytes : sum.bytes},
                     {"touched_blocks", sum.touched_blocks},
                     {"untouched_bytes", sum.untouched_bytes},
                     {"longest_wait_ns", sum.longest_wait_ns},
                     {"exit_status", verification.exit_status < 0 ? Json() : Json(verification.exit_status)}};
  write(to, json, 2);
  to << '\n';
}

void writeVerificationText(std::ostream &to, const Verification &verification, size_t columns) {
  const size_t room = columns > 2 * kMargin ? columns - kMargin : kMargin;
  const auto line = [&](std::string_view word, const std::string &text) {
    to << fmt::format("{:<{}}{}\n", word, kMargin, text);
  };
  line("finding", fmt::format("{} {}", verification.finding, verification.kind));
  line("at", lineOf(verification.allocated_at, room));
  line("verdict", fmt::format("{}: {}", nameOf(verification.judgement.outcome), verification.judgement.why));
  if (verification.exit_status > 0)
    line("program", fmt::format("ended with status {}", verification.exit_status));
  const auto place = [&](std::string_view word, const Calls &calls) {
    if (calls.empty())
      return;
    const SiteLine at = siteLineOf(calls);
    line(word, lineOf(at.site, room));
    for (const CallersText &callers : callersOf(at, room))
      for (const std::string &caller : callers.lines)
        line("", caller);
  };
  for (size_t i = 0; i < std::min(verification.touches.size(), kShownPlaces); ++i)
    place("touched", verification.touches[i].calls);
  for (size_t i = 0; verification.writes && i < std::min(verification.writes->paths.size(), kShownPlaces); ++i)
    place("written", verification.writes->paths[i].calls);
}

} // namespace msleaks::analysis::inline second_run
