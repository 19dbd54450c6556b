#include "analysis/result/writer.h"

#include "analysis/result/json_text.h"

namespace msleaks::analysis::inline result {

Json findingsJson(const std::vector<Finding> &findings) { return jsonOf(findings, Report{}); }
Json remainsJson(const RemainsReport &remains) { return jsonOf(remains, Report{}); }
Json placesJson(const std::vector<SiteLine> &lines) { return jsonOf(lines, Report{}); }
Json processesJson(const Report &report) { return jsonOf(report.processes, report); }
Json collectorsJson(const std::vector<KernelCollector> &collectors) { return jsonOf(collectors, Report{}); }
Json frameJson(const FrameText &frame) { return jsonOf(frame, Report{}); }
Json framesJson(const std::vector<SiteText> &calls) {
  JsonTree frames;
  frames.beginList();
  for (const SiteText &call : calls)
    emitFrames(frames, call, Report{});
  frames.endList();
  return frames.take();
}
Json jsonOf(const SiteText &site) { return jsonOf(site, Report{}); }

void writeReportJson(std::ostream &to, const Report &report) {
  JsonText text(to);
  emit(text, report, report);
  text.flush();
  to << '\n';
}

} // namespace msleaks::analysis::inline result
