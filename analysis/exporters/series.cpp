// series: the memory over time, as it is stored in the run folder (docs/formats.md).
#include "analysis/result/series.h"
#include "analysis/base/files.h"
#include "analysis/exporters/registry.h"

#include <ostream>
#include <string>

namespace msleaks::analysis::inline exporters {
namespace {

class SeriesExporter final : public ReportExporter {
public:
  // If this version cannot read the file, a report is made, as if there were no file.
  bool writeKept(const RunFolder &folder, std::ostream &out) override {
    if (folder.trace() != folder.path() / kTraceFile)
      return false; // only a trace was named, so the file beside it may belong to another run
    const std::filesystem::path file = folder.path() / kSeriesFile;
    const std::string kept = readText(file);
    if (!parseSeries(kept, file.string()))
      return false;
    out << kept;
    return true;
  }
  bool hasMoments() const override { return false; }
  void ask(ReportQuestion &question) const override { question.wants_series = true; }
  void write(const Report &report, std::ostream &out) override { writeSeriesJson(out, *report.series); }
};

} // namespace

MSL_REGISTER_EXPORTER(series, "the memory over time, and in each step, as one JSON object", SeriesExporter)

} // namespace msleaks::analysis::inline exporters
