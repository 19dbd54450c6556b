// Makes the report while the program still runs, on idle processors. So little work is left when the program has ended.
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
  // Returns null if the report would slow the program down, or is not possible: then it is made at the end. Watchers of
  // `session` get the live blocks.
  static std::unique_ptr<EarlyReport> start(const std::filesystem::path &run, const std::filesystem::path &session);
  ~EarlyReport();

  // The processor time that it has used until now.
  uint64_t cpuNs();
  // The unfinished report, for the caller to finish; null if it had to give up.
  analysis::RunningReport *stop();

private:
  EarlyReport(std::unique_ptr<analysis::RunningReport> report, const std::filesystem::path &session)
      : report_(std::move(report)), publisher_(session) {}
  void run() noexcept;
  bool follow();
  bool sleep(uint64_t ns);

  std::unique_ptr<analysis::RunningReport> report_; // used by the thread until its end; null: it gave up
  analysis::SumsPublisher publisher_;
  std::mutex lock_;
  std::condition_variable stopping_;
  bool stopped_ = false;
  std::atomic<uint64_t> cpu_ns_{0}; // of the thread, after its end
  std::thread thread_;
};

} // namespace msleaks::driver
