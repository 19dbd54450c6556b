// One recording from its folder to its last line: everything around the program that is ours.
#pragma once

#include "run/early_report.h"
#include "run/options.h"

#include "analysis/collect/collector.h"

#include <future>
#include <memory>
#include <thread>
#include <vector>

namespace msleaks::driver {

// Removes what a recording made on the disk, and nothing else, unless it is told that all went well.
class Cleanup {
public:
  explicit Cleanup(const std::filesystem::path &folder);
  Cleanup(Cleanup &&) noexcept;
  ~Cleanup() { run(); }
  void filesMayExist() { files_ = true; } // before that, files with our names belong to somebody else
  void dismiss() { folder_.clear(); }
  void run();

private:
  std::filesystem::path folder_;               // empty: nothing is to be removed
  std::vector<std::filesystem::path> missing_; // folders that were not there, the innermost first
  bool files_ = false;
};

class Recording {
public:
  // Makes the output folder, the trace, the session's shared memory and the collector's thread, or none of them.
  static Result<std::unique_ptr<Recording>> create(const RunOptions &);
  ~Recording();

  const std::filesystem::path &session() const { return session_.path(); }
  const std::filesystem::path &output() const { return folder_.path(); }

  // The program could not be started: nothing of the recording stays.
  void discard();
  void programStarted(pid_t) noexcept;
  // Starts recording when it is stopped, and stops it when it is not.
  void toggle() { collector_.toggle(); }
  analysis::CollectorProgress progress() const { return collector_.progress(); }
  // Waits until everything is stored, and writes the manifest.
  void programEnded(int wait_status);

  // What is known of the report by now; null: nothing.
  analysis::RunningReport *earlyReport() { return early_ ? early_->stop() : nullptr; }

  const analysis::CollectorSummary &summary() const { return collector_.summary(); }
  // Whether the process that was started has recorded, as far as it went.
  bool sawProgram() const;
  uint64_t collectorCpuNs() const { return manifest_.collector_cpu_ns; }
  uint64_t durationNs() const { return manifest_.end_ns - manifest_.start_ns; }

private:
  Recording(const RunOptions &, analysis::Manifest, Cleanup, analysis::RunFolder, analysis::SessionDir,
            analysis::TraceWriter);
  static Result<std::unique_ptr<Recording>> tryToCreate(const RunOptions &);
  Result<void> startThread();
  void stopThread();
  void finishManifest(int wait_status);

  Cleanup cleanup_;
  analysis::RunFolder folder_;
  analysis::SessionDir session_;
  analysis::Collector collector_;
  analysis::Manifest manifest_;
  uint32_t program_pid_ = 0;
  std::promise<bool> begin_; // whether there is a program to record
  std::thread thread_;
  bool early_wanted_;
  std::unique_ptr<EarlyReport> early_;
};

} // namespace msleaks::driver
