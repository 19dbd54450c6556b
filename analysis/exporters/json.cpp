// json: the whole report, as `msleaks report --json` prints it (docs/report.md).
#include "analysis/exporters/registry.h"

namespace msleaks::analysis::inline exporters {
namespace {

class JsonExporter final : public ReportExporter {
public:
  void write(const Report &report, std::ostream &out) override { writeReportJson(out, report); }
};

} // namespace

MSL_REGISTER_EXPORTER(json, "the report, as one JSON object", JsonExporter)

} // namespace msleaks::analysis::inline exporters
