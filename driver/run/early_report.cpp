#include "run/early_report.h"

#include "analysis/base/machine.h"

#include <algorithm>
#include <pthread.h>
#include <sched.h>
#include <spdlog/spdlog.h>
#include <system_error>

namespace msleaks::driver {
namespace {

// The number of events that the report's thread reads in one step: about 200 us of processor time. The thread can stop
// only after a step, so a step must be short. On a busy machine, a thread of idle priority waits long for a processor.
constexpr uint64_t kEventsOfStep = 2000;
constexpr uint64_t kShortSleepNs = 5'000'000, kLongSleepNs = 100'000'000;
// An early report needs about 100 bytes of memory for each live block. With more than kMostBlocks live blocks, the
// report is made only after the program has ended and freed its memory.
constexpr uint64_t kMostBlocks = 1'000'000;

} // namespace

std::unique_ptr<EarlyReport> EarlyReport::start(const std::filesystem::path &run, const std::filesystem::path &session,
                                                const std::function<bool()> &may_use_idle) {
  try { // the functions below read files and may throw, but start() must not throw
    if (!may_use_idle())
      return nullptr;
    auto report = analysis::RunningReport::follow(run);
    if (!report)
      return nullptr;
    std::unique_ptr<EarlyReport> early(new EarlyReport(std::move(*report), session));
    early->thread_ = std::thread([early = early.get()] { early->run(); });
    return early;
  } catch (const std::exception &error) {
    spdlog::info("the report is made at the end: {}", error.what());
    return nullptr;
  }
}

EarlyReport::~EarlyReport() { stop(); }

analysis::RunningReport *EarlyReport::stop() {
  {
    const std::lock_guard held(lock_);
    stopped_ = true;
  }
  stopping_.notify_one();
  if (thread_.joinable())
    thread_.join();
  return report_.get();
}

uint64_t EarlyReport::cpuNs() {
  clockid_t clock;
  if (thread_.joinable() && pthread_getcpuclockid(thread_.native_handle(), &clock) == 0)
    return analysis::readClockNs(clock);
  return cpu_ns_;
}

void EarlyReport::run() noexcept {
  const sched_param none{};
  const bool idle = sched_setscheduler(0, SCHED_IDLE, &none) == 0;
  bool worked = false;
  try {
    worked = idle && follow();
  } catch (const std::exception &) { // out of memory; the report at the end may have enough memory
  }
  if (!worked)
    report_.reset();
  cpu_ns_ = analysis::readClockNs(CLOCK_THREAD_CPUTIME_ID);
}

// Reads events for the report until the thread is stopped. Returns false if the thread cannot continue.
bool EarlyReport::follow() {
  for (uint64_t sleep_ns = kShortSleepNs;;) {
    const auto taken = report_->advance(kEventsOfStep);
    if (!taken || report_->liveBlocks() > kMostBlocks)
      return false;
    publisher_.offer(*report_);
    sleep_ns = *taken != 0 ? kShortSleepNs : std::min(sleep_ns * 2, kLongSleepNs);
    if (sleep(report_->isBehind() ? 0 : sleep_ns))
      return true;
  }
}

// Sleeps for this time, or until the thread must stop. Returns whether the thread must stop.
bool EarlyReport::sleep(uint64_t ns) {
  std::unique_lock held(lock_);
  return stopping_.wait_for(held, std::chrono::nanoseconds(ns), [this] { return stopped_; });
}

} // namespace msleaks::driver
