// msleaks-run starts a program, records the program, and exits with the program's status.
#include "run/options.h"
#include "run/progress.h"
#include "run/recording.h"
#include "run/supervisor.h"

#include "analysis/base/log.h"
#include "analysis/base/preload.h"
#include "analysis/base/program.h"
#include "analysis/base/terminal.h"
#include "analysis/report/analyze_run.h"
#include "analysis/result/report.h"
#include "analysis/text/report_text.h"

#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sstream>
#include <unistd.h>

namespace msleaks::driver {
namespace {

namespace fs = std::filesystem;

// Prints a message on any log level, and returns the status.
int complain(const std::string &message, int status) {
  std::fputs(fmt::format("msleaks-run: {}\n", message).c_str(), stderr);
  return status;
}

int complain(const Error &error) { return complain(error.message, static_cast<int>(error.status)); }

// Returns the libraries to preload. Without hooks the program still runs, but nothing is recorded.
std::vector<std::string> preloads(const RunOptions &options, const fs::path &program, const fs::path &session) {
  const auto hooks = analysis::findHooks(session / analysis::kLibraryLink);
  if (hooks)
    return analysis::preloadsFor(program, *hooks, options.hooks);
  spdlog::warn("{}; nothing will be recorded", hooks.error().message);
  return {};
}

void printAccount(const Recording &recording) {
  const analysis::ProcessTotals &totals = recording.summary().totals;
  const std::string line =
      fmt::format("msleaks-run: {} events, {} dropped, stalled {:.3f} s, own CPU {:.3f} s of {:.3f} s; {}\n",
                  totals.produced, totals.dropped, static_cast<double>(totals.stalled_ns) / 1e9,
                  static_cast<double>(recording.collectorCpuNs()) / 1e9,
                  static_cast<double>(recording.durationNs()) / 1e9, recording.output().string());
  std::fputs(line.c_str(), stderr);
}

// The result of the run. For Findings and Unknown, msleaks-run exits with the status of --error-exitcode, if it is
// given.
enum class Verdict {
  Clean,
  Findings,
  Unknown, // the recording or the report failed, so it is not known whether there are findings
};

// Makes the report, and stores the names of its calls in the run folder. So a machine without the binaries can show the
// report later.
Result<analysis::Report> finish(Recording &recording, const RunOptions &options) {
  analysis::ProgressLine line(options.progress != Progress::Hidden); // the program no longer uses the terminal
  try {
    analysis::RunningReport *early = recording.earlyReport();
    auto report =
        analysis::finishRun(recording.output(), early, [&line](const std::string &doing) { line.drawIfDue(doing); });
    if (early && early->wasEnough())
      spdlog::debug("the report was begun while the program ran: {} of {} events", early->earlyEvents(),
                    report ? report->events.stored : 0);
    return report;
  } catch (const std::exception &error) {
    return fail(error.what());
  }
}

// Stores the names of the run's calls in the run folder, if the user wants no report now.
Result<void> nameCalls(Recording &recording, const RunOptions &options) {
  analysis::ProgressLine line(options.progress != Progress::Hidden);
  try {
    return analysis::nameRun(recording.output(), [&line](const std::string &doing) { line.drawIfDue(doing); });
  } catch (const std::exception &error) {
    return fail(error.what());
  }
}

// Prints the short report on stderr. A failure must not change the exit status, unless the user gave --error-exitcode.
Verdict reportFindings(Recording &recording, const RunOptions &options) {
  const auto report = finish(recording, options);
  if (!report) {
    spdlog::error("no report: {}", report.error().message);
    printAccount(recording);
    return Verdict::Unknown;
  }
  if (!options.no_report) {
    std::ostringstream text; // printed by one write, so other output does not split it
    analysis::printShortReport(*report, text, analysis::outputColumns(STDERR_FILENO));
    std::fputs(text.str().c_str(), stderr);
  }
  return report->hasFindings() ? Verdict::Findings : Verdict::Clean;
}

// Returns the verdict for a program that was not recorded. Other processes of the session may have been recorded.
Verdict unseen(const RunOptions &options) {
  if (options.error_exitcode != 0)
    spdlog::error("{} was not recorded: `msleaks report` names the reason; the status is that of --error-exitcode",
                  options.command[0]);
  return Verdict::Unknown;
}

// Makes the report, or only stores the names of the calls, depending on the options. If the recording did not fail and
// the user wants no report, the verdict is Clean.
Verdict conclude(Recording &recording, const RunOptions &options) {
  for (const std::string &note : recording.summary().notes)
    spdlog::info("{}", note);
  if (const auto &failure = recording.summary().failure) {
    spdlog::error(
        "{}: recording stopped early, the program was not affected; `msleaks recover {}` stores what is left in {}",
        failure->message, recording.output().string(), recording.session().string());
    return Verdict::Unknown;
  }
  if (options.wantsReport()) {
    const Verdict verdict = reportFindings(recording, options);
    return recording.sawProgram() ? verdict : unseen(options);
  }
  if (const auto named = nameCalls(recording, options); !named)
    spdlog::info("calls are not named: {}", named.error().message);
  return Verdict::Clean;
}

int run(const RunOptions &options) {
  const auto program = analysis::findProgram(options.command[0]);
  if (!program)
    return complain(program.error().message, program.error().exit_status);
  Supervisor supervisor;
  if (options.toggle_signal != 0)
    supervisor.takeForToggle(options.toggle_signal);
  auto recording = Recording::create(options);
  if (!recording)
    return complain(recording.error());
  const fs::path session = (*recording)->session();
  const auto environment = analysis::makeEnvironment(fmt::format("{}={}", abi::kSessionVariable, session.string()),
                                                     preloads(options, *program, session));
  const auto pid = analysis::startProgram(*program, options.command, environment, supervisor.found());
  if (!pid) {
    (*recording)->discard();
    return complain(pid.error().message, pid.error().exit_status);
  }
  (*recording)->programStarted(*pid);
  RunProgress progress(options.progress);
  const int status =
      supervisor.waitFor(*pid, [&] { progress.draw((*recording)->progress()); }, [&] { (*recording)->toggle(); });
  Verdict verdict = Verdict::Unknown;
  try {
    (*recording)->programEnded(status);
    progress.erase();
    supervisor.release(); // the run folder is complete: from now on Ctrl-C ends msleaks-run
    verdict = conclude(**recording, options);
    recording->reset();
  } catch (const std::exception &error) { // the program's own status is still returned
    complain(error.what(), 0);
  }
  if (verdict != Verdict::Clean && options.error_exitcode != 0)
    return options.error_exitcode;
  endAs(status);
}

// Opens /dev/null for each closed standard stream. Otherwise a file of msleaks-run could get the stream's number, and a
// message could be written into the trace. In the program, the stream remains closed.
void occupyStandardStreams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
    if (fcntl(fd, F_GETFD) < 0) [[maybe_unused]]
      const int taken = open("/dev/null", O_RDWR | O_CLOEXEC); // gets the lowest free number, which is fd
}

int start(int argc, char **argv) {
  occupyStandardStreams();
  const auto parsed = parseRun({argv + 1, argv + argc});
  if (!parsed)
    return complain(parsed.error());
  if (!parsed->text.empty()) {
    const bool printed = std::fputs(parsed->text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
    return printed ? 0 : complain("the output could not be written", static_cast<int>(ExitStatus::OwnFault));
  }
  if (auto logged = analysis::startLog("msleaks-run", parsed->options.log_level); !logged)
    return complain(logged.error());
  for (const std::string &note : parsed->options.notes)
    spdlog::warn("{}", note);
  return run(parsed->options);
}

int startSafely(int argc, char **argv) {
  try {
    return start(argc, argv);
  } catch (const std::exception &error) { // a failure before the program runs; run() handles later failures
    return complain(std::string("a fault of msleaks-run itself: ") + error.what(),
                    static_cast<int>(ExitStatus::OwnFault));
  }
}

} // namespace
} // namespace msleaks::driver

int main(int argc, char **argv) { return msleaks::driver::startSafely(argc, argv); }
