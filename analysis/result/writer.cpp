#include "analysis/result/writer.h"

namespace msleaks::analysis::inline result {

Json findingsJson(const std::vector<Finding> &findings) { return jsonOf(findings, Report{}); }
Json remainsJson(const RemainsReport &remains) { return jsonOf(remains, Report{}); }
Json placesJson(const std::vector<SiteLine> &lines) { return jsonOf(lines, Report{}); }
Json processesJson(const Report &report) { return jsonOf(report.processes, report); }
Json frameJson(const FrameText &frame) { return jsonOf(frame, Report{}); }
Json jsonOf(const SiteText &site) { return jsonOf(site, Report{}); }

void appendFrames(const SiteText &call, Json &frames) {
  const Report none;
  frames.push_back(objectOf<CallFields>(call, none));
  if (call.origin == SiteOrigin::Python)
    frames.back()["language"] = "python"; // other languages are not known
  for (const FrameText &inlined : call.inlined_at) {
    Json frame = jsonOf(inlined, none);
    for (const char *shared : {"library", "offset", "origin"})
      frame[shared] = frames.back()[shared];
    frame["inlined"] = true;
    frames.push_back(std::move(frame));
  }
}

void writeReportJson(std::ostream &to, const Report &report) {
  write(to, jsonOf(report, report), 2);
  to << '\n';
}

} // namespace msleaks::analysis::inline result
