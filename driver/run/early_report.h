// Makes the report on idle processors while the program runs, so little work remains after the program's end.
#pragma once

#include "run/idle_processors.h"

#include "analysis/report/running_report.h"
#include "analysis/watch/published_sums.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace msleaks::driver {

class EarlyReport {
public:
  // Starts a thread that makes the report, and publishes sums of the live blocks for `msleaks top`. Returns null if an
  // early report is impossible, or would slow the program down. Does not throw, even if `may_use_idle` throws.
  static std::unique_ptr<EarlyReport> start(const std::filesystem::path &run, const std::filesystem::path &session,
                                            const std::function<bool()> &may_use_idle = mayUseIdleProcessors);
  ~EarlyReport();

  // Returns the processor time that the thread has used until now.
  uint64_t cpuNs();
  // Stops the thread. Returns the unfinished report, which the caller finishes. Returns null if the thread gave up.
  analysis::RunningReport *stop();

private:
  EarlyReport(std::unique_ptr<analysis::RunningReport> report, const std::filesystem::path &session)
      : report_(std::move(report)), publisher_(session) {}
  void run() noexcept;
  bool follow();
  bool sleep(uint64_t ns);

  std::unique_ptr<analysis::RunningReport> report_; // used only by the thread while it runs; null: the thread gave up
  analysis::SumsPublisher publisher_;
  std::mutex lock_;
  std::condition_variable stopping_;
  bool stopped_ = false;
  std::atomic<uint64_t> cpu_ns_{0}; // processor time of the thread, set at its end
  std::thread thread_;
};

} // namespace msleaks::driver
