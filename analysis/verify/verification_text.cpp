#include "analysis/report/callers.h"
#include "analysis/report/site_json.h"
#include "analysis/report/site_text.h"
#include "analysis/report/text_format.h"
#include "analysis/verify/allocation_place.h"
#include "analysis/verify/verification.h"

#include <fmt/format.h>

namespace msleaks::analysis {
namespace {

constexpr size_t kMargin = 10, kShownTouches = 4;

Json jsonOf(const TouchPath &path) {
  Json frames = Json::array();
  for (const SiteText &call : path.calls)
    appendFrames(call, frames);
  return {{"blocks", path.blocks}, {"frames", std::move(frames)}};
}

Json siteOf(const Verification &verification) {
  if (verification.touches.empty() || verification.touches.front().calls.empty())
    return nullptr;
  const auto &calls = verification.touches.front().calls;
  return jsonOf(calls[ownCallOf(calls)]);
}

// As a report has a place, and who called it.
SiteLine siteLineOf(const TouchPath &touch) {
  SiteLine line;
  line.site = touch.calls[ownCallOf(touch.calls)];
  PathLine &path = line.paths.emplace_back();
  path.complete = true;
  for (const SiteText &call : touch.calls)
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
  const Json json = {{"finding", verification.finding},
                     {"kind", verification.kind},
                     {"result", nameOf(verification.judgement.outcome)},
                     {"why", verification.judgement.why},
                     {"site", siteOf(verification)},
                     {"paths", std::move(paths)},
                     {"allocated_at", jsonOf(verification.allocated_at)},
                     {"blocks", sum.blocks},
                     {"bytes", sum.bytes},
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
  for (size_t i = 0; i < std::min(verification.touches.size(), kShownTouches); ++i) {
    if (verification.touches[i].calls.empty())
      continue;
    const SiteLine touch = siteLineOf(verification.touches[i]);
    line("touched", lineOf(touch.site, room));
    for (const CallersText &callers : callersOf(touch, room))
      for (const std::string &caller : callers.lines)
        line("", caller);
  }
}

} // namespace msleaks::analysis
