#include "top/live_page.h"

#include "analysis/base/machine.h"
#include "analysis/page/report_page.h"
#include "analysis/report/analyze_run.h"
#include "page_file.h"

#include <algorithm>
#include <sstream>

namespace msleaks::tools {

// The time between two analyses, as a multiple of the time of an analysis.
static constexpr uint64_t kRest = 5;

Result<void> LivePage::refresh() {
  const uint64_t begin_ns = analysis::readMonotonicNs();
  if (report_ && (!isRunning() || begin_ns < due_ns_))
    return {};
  analysis::ReportQuestion question;
  analysis::askForPage(question);
  report_ = MSL_TRY(analysis::analyzeRun(run_, question));
  report_->run = run_;
  const uint64_t took_ns = analysis::readMonotonicNs() - begin_ns;
  due_ns_ = begin_ns + std::max(interval_ns_, kRest * took_ns);
  return {};
}

HttpAnswer LivePage::answer(std::string_view path) {
  const bool is_page = path.empty();
  if (!is_page && path != "data")
    return {.status = 404, .content = "no such page\n"};
  if (const auto read = refresh(); !read)
    return {.status = 500, .content = read.error().message + "\n"};
  const uint64_t now_ns = analysis::readMonotonicNs();
  const uint64_t wait_ns = std::max(due_ns_ > now_ns ? due_ns_ - now_ns : 0, interval_ns_ / 10);
  const auto every_ms = isRunning() ? std::optional(wait_ns / 1'000'000 + 1) : std::nullopt;
  const analysis::RunOfReportPage run{*report_, recordedAt(run_)};
  std::ostringstream text;
  if (!is_page)
    analysis::writeLiveData(text, run, every_ms);
  else if (const auto written = analysis::writeReportPage(text, run, every_ms); !written)
    return {.status = 500, .content = written.error().message + "\n"};
  return {.type = is_page ? "text/html" : "application/json", .content = text.str()};
}

} // namespace msleaks::tools
