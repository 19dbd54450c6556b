// series: the memory over time, as the run folder keeps it (docs/export.md).
#include "analysis/result/series.h"
#include "analysis/base/files.h"
#include "analysis/exporters/registry.h"

#include <ostream>
#include <string>

namespace msleaks::analysis::inline exporters {
namespace {

class SeriesExporter final : public ReportExporter {
public:
  // A file that this version cannot read is as good as none.
  bool writeKept(const RunFolder &folder, std::ostream &out) override {
    if (folder.trace() != folder.path() / kTraceFile)
      return false; // a trace for itself: the file beside it may be another run's
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
