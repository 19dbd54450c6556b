// msleaks top [RUN]: shows the live blocks of a session while it runs.
#include "analysis/base/machine.h"
#include "analysis/base/terminal.h"
#include "analysis/base/text.h"
#include "analysis/collect/running_runs.h"
#include "analysis/watch/frame_text.h"
#include "analysis/watch/live_analysis.h"
#include "top/http_server.h"
#include "top/live_page.h"
#include "top/metrics.h"
#include "top/screen.h"
#include "verb.h"

#include <algorithm>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <sys/resource.h>
#include <tuple>
#include <unistd.h>

namespace msleaks::tools {
namespace {

// The number of events that `top` reads between two checks of the keyboard: about 20 ms of work.
constexpr uint64_t kEventsOfStep = 200'000;
// The longest time in which `top` looks up new names before it draws a frame. Otherwise the debug information of large
// libraries would delay the reaction to a key.
constexpr uint64_t kNamingNs = 50'000'000;
// The nice value of `top`: the watched program has a higher priority.
constexpr int kNice = 10;

struct TopOptions {
  std::string run, metrics;
  bool once = false, json = false, web = false;
  uint64_t port = 0;
  double interval_s = 1;
  size_t top = 20;
};

Result<ExitStatus> showOnce(analysis::LiveAnalysis &live, const std::string &run, const TopOptions &options) {
  do
    MSL_TRY(live.advance());
  while (live.isBehind());
  const analysis::Frame frame = live.frame({options.json, options.json});
  if (options.json) {
    std::cout << analysis::jsonOf(frame, run) << '\n';
    return ExitStatus::Clean;
  }
  analysis::FrameStyle style;
  style.columns = std::max<size_t>(20, analysis::outputColumns(STDOUT_FILENO));
  for (const std::string &line : headOf(frame, style))
    std::cout << line << '\n';
  std::cout << headingsOf(style) << '\n';
  const size_t shown = std::min(options.top, frame.rows.size());
  for (size_t row = 0; row < shown; ++row)
    std::cout << lineOf(frame, frame.rows[row], style) << '\n';
  if (shown < frame.rows.size())
    std::cout << analysis::cutEnd(fmt::format("and {} other places", frame.rows.size() - shown), style.columns) << '\n';
  return ExitStatus::Clean;
}

// Returns how many ms to wait for a key. The wait ends when the next frame is due, or when `top` must tell msleaks-run
// again that it is watching.
int timeoutOf(bool goes_on, bool behind, uint64_t until_frame_ns) {
  constexpr int kStandingStill = 60'000; // ended or paused: only a key can change the frame
  constexpr uint64_t kLongestNs = 1'000'000'000;
  return !goes_on ? kStandingStill
         : behind ? 0
                  : static_cast<int>(std::min(until_frame_ns, kLongestNs) / 1'000'000) + 1;
}

Result<ExitStatus> showLive(analysis::LiveAnalysis &live, Screen &screen, const TopOptions &options) {
  const auto interval_ns = static_cast<uint64_t>(options.interval_s * 1e9);
  analysis::Frame frame;
  for (uint64_t due_ns = 0;;) {
    const bool goes_on = frame.state == analysis::WatchState::Running && !screen.isPaused();
    if (goes_on)
      MSL_TRY(live.advance(kEventsOfStep));
    const uint64_t now_ns = analysis::readMonotonicNs();
    const bool is_due = goes_on && now_ns >= due_ns;
    if (is_due)
      due_ns = now_ns + interval_ns;
    const Wish wish = is_due ? Wish::Redraw : screen.wait(timeoutOf(goes_on, live.isBehind(), due_ns - now_ns));
    if (wish == Wish::Quit)
      return ExitStatus::Clean;
    if (wish == Wish::None)
      continue;
    if (wish == Wish::SetMoment)
      live.setMoment();
    frame = live.frame(screen.split(), kNamingNs);
    screen.draw(frame);
  }
}

// Shows the session in browsers, until the user interrupts `top`.
Result<ExitStatus> showWeb(const std::string &run, const TopOptions &options) {
  LivePage page(run, static_cast<uint64_t>(options.interval_s * 1e9));
  MSL_TRY(page.refresh());
  const HttpServer server = MSL_TRY(HttpServer::listenSecretly(static_cast<uint16_t>(options.port)));
  std::cout << server.url() << "\nOpen this address in a browser on this machine. Ctrl-C ends the page.\n"
            << std::flush;
  MSL_TRY(server.serve([&](std::string_view path) { return page.answer(path); }));
  return ExitStatus::Clean;
}

Result<ExitStatus> top(const TopOptions &options) {
  if (options.json && !options.once)
    return fail("--json needs --once, because it prints one object", ExitStatus::Usage);
  if (options.web && options.once)
    return fail(
        "--web shows a page that goes on, so it refuses --once. `msleaks report RUN --html FILE` writes one page",
        ExitStatus::Usage);
  if (!options.metrics.empty() && (options.web || options.once))
    return fail("--metrics goes on until the session ends, so it refuses --web and --once", ExitStatus::Usage);
  const auto target = options.metrics.empty() ? MetricsTarget{} : MSL_TRY(MetricsTarget::of(options.metrics));
  const std::string run = options.run.empty() ? MSL_TRY(analysis::newestRunningRun()).string() : options.run;
  std::ignore = setpriority(PRIO_PROCESS, 0, kNice); // if the kernel refuses, `top` runs with normal priority
  if (options.web)
    return showWeb(run, options);
  if (!options.metrics.empty())
    return publishMetrics(run, target, static_cast<uint64_t>(options.interval_s * 1e9), options.top);
  const auto screen = options.once ? nullptr : Screen::open();
  const auto live = MSL_TRY(
      analysis::LiveAnalysis::open(run, screen ? analysis::WatchSource::Session : analysis::WatchSource::Trace));
  return screen ? showLive(*live, *screen, options) : showOnce(*live, run, options);
}

Action declareTop(CommandLine &line) {
  const auto options = std::make_shared<TopOptions>();
  line.option("RUN", options->run, "names the folder of a run [that of your newest running session]");
  line.flag("--once", options->once, "prints one frame as text and exits; the default without a terminal");
  line.flag("--json", options->json, "prints the frame of --once as a JSON object (docs/top.md)");
  line.flag("--web", options->web, "shows the session as a page for a browser on this machine (docs/top.md)");
  line.option("--port", options->port, "sets the port of --web [one that is free]").between<uint64_t>(1, 65535);
  line.option("--metrics", options->metrics,
              "publishes numbers for dashboards at ADDRESS:PORT, or in a FILE (docs/metrics.md)");
  line.option("--interval", options->interval_s, "sets the seconds from one frame to the next")
      .between(0.1, 3600.0)
      .showDefault();
  line.option("--top", options->top, "sets the number of places of --once and --metrics").showDefault();
  return [options] { return top(*options); };
}

} // namespace

MSL_REGISTER_VERB(top, "shows the live blocks of a session while it runs", declareTop)

} // namespace msleaks::tools
