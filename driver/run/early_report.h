// Makes the report while the program still runs, on processors that nobody else wants: when the program has ended,
// little is left to do.
#pragma once

#include "analysis/report/running_report.h"
#include "analysis/watch/sums_publisher.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>

namespace msleaks::driver {

class EarlyReport {
public:
  // Null where it would be at the program's cost, or is not possible: then the report is made at the end.
  // Who watches `session` is told what is alive.
  static std::unique_ptr<EarlyReport> start(const std::filesystem::path &run, const std::filesystem::path &session);
  ~EarlyReport();

  // Processor time that it took until now.
  uint64_t cpuNs();
  // The unfinished report, to go on with on the caller's time; null when it had to give up.
  analysis::RunningReport *stop();

private:
  EarlyReport(std::unique_ptr<analysis::RunningReport> report, const std::filesystem::path &session)
      : report_(std::move(report)), publisher_(session) {}
  void run() noexcept;
  bool follow();
  bool sleep(uint64_t ns);

  std::unique_ptr<analysis::RunningReport> report_; // the thread's until it has ended; null: it gave up
  analysis::SumsPublisher publisher_;
  std::mutex lock_;
  std::condition_variable stopping_;
  bool stopped_ = false;
  std::atomic<uint64_t> cpu_ns_{0}; // of the thread, when it has ended
  std::thread thread_;
};

} // namespace msleaks::driver
