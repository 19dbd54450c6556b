// Fuzzes the reader of result files. An accepted result must be the same after it was written and read again.
#include "analysis/result/report.h"
#include "analysis/text/report_text.h"

#include "named_memory.h"

#include <cstdlib>
#include <sstream>

namespace {

std::string jsonText(const msleaks::analysis::Report &report) {
  std::ostringstream out;
  writeReportJson(out, report);
  return out.str();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size) {
  using namespace msleaks::analysis;
  static msleaks::NamedMemory file;
  const auto report = readReportJson(file.store({bytes, size}));
  if (!report)
    return report.error().message.find('\n') == std::string::npos ? 0 : (std::abort(), 0);
  const std::string text = jsonText(*report);
  const auto again = readReportJson(file.store({reinterpret_cast<const uint8_t *>(text.data()), text.size()}));
  if (!again || jsonText(*again) != text)
    std::abort();
  std::ostringstream table;
  writeReportTable(table, *report, {});
  return 0;
}
