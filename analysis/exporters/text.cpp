// text: the whole report as tables, as `msleaks report --all` writes it into a pipe.
#include "analysis/exporters/registry.h"
#include "analysis/text/report_text.h"

namespace msleaks::analysis::inline exporters {
namespace {

class TextExporter final : public ReportExporter {
public:
  void write(const Report &report, std::ostream &out) override {
    TableStyle style;
    style.columns = SIZE_MAX; // lines are not cut, because there is no window
    style.color = false;
    writeReportTable(out, report, style);
  }
};

} // namespace

MSL_REGISTER_EXPORTER(text, "the report, as tables for people", TextExporter)

} // namespace msleaks::analysis::inline exporters
