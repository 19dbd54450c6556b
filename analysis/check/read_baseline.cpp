#include "analysis/check/read_baseline.h"

#include "analysis/base/file_access.h"
#include "analysis/trace/format.h"

#include <fmt/format.h>

namespace msleaks::analysis {
namespace {

constexpr uint64_t kMostBytes = 1u << 30;

// Whatever does not begin as a trace is taken for a saved file. Its reader says what is wrong with it.
bool isSaved(const trace::InputFile &file) {
  uint64_t magic = 0;
  const auto read = file.read(0, std::span(reinterpret_cast<uint8_t *>(&magic), sizeof magic));
  return read && magic != trace::kFileMagic;
}

} // namespace

Result<RunFigures> readBaseline(const std::filesystem::path &baseline, const ReportQuestion &question,
                                const Progress &progress) {
  std::error_code error;
  if (std::filesystem::is_regular_file(baseline, error)) {
    const auto file = MSL_TRY(trace::InputFile::open(baseline));
    if (isSaved(file)) {
      if (file.size() > kMostBytes)
        return fail(fmt::format("'{}' has {} bytes: no file of msleaks check is that long", file.name(), file.size()));
      std::string text(file.size(), '\0');
      MSL_TRY(file.readAll(0, {reinterpret_cast<uint8_t *>(text.data()), text.size()}));
      const bool may_be_result = isResultFile(baseline) && text.find("\"session\"") != std::string::npos;
      if (isFigures(text) || !may_be_result)
        return parseFigures(text, file.name());
      return figuresOf(MSL_TRY(readReportJson(baseline)));
    }
  }
  return figuresOf(MSL_TRY(analyzeRun(baseline, question, progress)));
}

} // namespace msleaks::analysis
