#include "top/metrics.h"

#include "analysis/base/machine.h"
#include "analysis/base/text.h"
#include "analysis/watch/frame_metrics.h"
#include "analysis/watch/live_analysis.h"
#include "page_file.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <iostream>
#include <memory>

namespace msleaks::tools {
namespace {

constexpr std::string_view kOpenMetrics = "application/openmetrics-text; version=1.0.0";
// The longest time between two looks at the session. A watcher that looks seldom gets no sums from msleaks-run.
constexpr uint64_t kLookNs = 1'000'000'000;

class Session {
public:
  static Result<Session> open(const std::string &run, size_t places) {
    Session session(MSL_TRY(analysis::LiveAnalysis::open(run, analysis::WatchSource::Session)), places);
    MSL_TRY(session.look());
    return session;
  }
  Result<void> look() {
    do
      MSL_TRY(live_->advance());
    while (live_->isBehind());
    frame_ = live_->frame();
    return {};
  }
  bool isRunning() const { return frame_.state == analysis::WatchState::Running; }
  std::string metrics() const { return analysis::metricsOf(frame_, places_); }

private:
  Session(std::unique_ptr<analysis::LiveAnalysis> live, size_t places) : live_(std::move(live)), places_(places) {}
  std::unique_ptr<analysis::LiveAnalysis> live_;
  size_t places_;
  analysis::Frame frame_;
};

Result<void> writeFile(const std::string &path, const std::string &text) {
  PageFile file = MSL_TRY(PageFile::create(path));
  return file.write([&](std::ostream &out) -> Result<void> {
    out << text;
    return {};
  });
}

Result<ExitStatus> toFile(Session &session, const std::string &path, uint64_t interval_ns) {
  for (uint64_t due_ns = 0;;) {
    if (const uint64_t now_ns = analysis::readMonotonicNs(); now_ns >= due_ns || !session.isRunning()) {
      MSL_TRY(writeFile(path, session.metrics()));
      due_ns = now_ns + interval_ns;
    }
    if (!session.isRunning())
      return ExitStatus::Clean;
    analysis::sleepNs(std::min(interval_ns, kLookNs));
    MSL_TRY(session.look());
  }
}

Result<ExitStatus> toScrapers(Session &session, const Endpoint &endpoint) {
  const HttpServer server = MSL_TRY(HttpServer::listen(endpoint, "/metrics"));
  std::cout << server.url() << '\n' << std::flush;
  Result<void> looked;
  MSL_TRY(server.serve(
      [&](std::string_view rest) {
        return rest.empty() ? HttpAnswer{.type = std::string(kOpenMetrics), .content = session.metrics()}
                            : HttpAnswer{.status = 404, .content = "no such page\n"};
      },
      static_cast<int>(kLookNs / 1'000'000),
      [&] {
        looked = session.look();
        return looked && session.isRunning();
      }));
  MSL_TRY(looked);
  return ExitStatus::Clean;
}

} // namespace

Result<MetricsTarget> MetricsTarget::of(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == text.npos || text.find('/') != text.npos)
    return MetricsTarget{.file = std::string(text), .endpoint = {}};
  Endpoint endpoint;
  if (colon != 0)
    endpoint.address = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
  if (error != std::errc() || end != port.data() + port.size())
    return fail(fmt::format("--metrics: '{}' is no port. Write ADDRESS:PORT, or ./FILE", port), ExitStatus::Usage);
  return MetricsTarget{.file = {}, .endpoint = endpoint};
}

Result<ExitStatus> publishMetrics(const std::string &run, const MetricsTarget &target, uint64_t interval_ns,
                                  size_t places) {
  Session session = MSL_TRY(Session::open(run, places));
  return target.endpoint ? toScrapers(session, *target.endpoint) : toFile(session, target.file, interval_ns);
}

} // namespace msleaks::tools
