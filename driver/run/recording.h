// Makes one recording: creates the run folder and the session, runs the collector in a thread, and writes the manifest.
#pragma once

#include "run/early_report.h"
#include "run/options.h"

#include "analysis/collect/collector.h"

#include <future>
#include <memory>
#include <thread>
#include <vector>

namespace msleaks::driver {

// Removes the files that a recording created, and no other files. After dismiss(), removes nothing.
class Cleanup {
public:
  explicit Cleanup(const std::filesystem::path &folder);
  Cleanup(Cleanup &&) noexcept;
  ~Cleanup() { run(); }
  void filesMayExist() { files_ = true; } // without this call, the files are not removed
  void dismiss() { folder_.clear(); }
  void run();

private:
  std::filesystem::path folder_;               // empty: there is nothing to remove
  std::vector<std::filesystem::path> missing_; // folders that did not exist before, the innermost first
  bool files_ = false;
};

class Recording {
public:
  // Creates the output folder, the trace, the session's shared memory and the collector's thread, or none of them.
  static Result<std::unique_ptr<Recording>> create(const RunOptions &);
  ~Recording();

  const std::filesystem::path &session() const { return session_.path(); }
  const std::filesystem::path &output() const { return folder_.path(); }

  // Removes all files of the recording. Call this if the program could not be started.
  void discard();
  void programStarted(pid_t) noexcept;
  // Starts recording if recording is off, else stops recording.
  void toggle() { collector_.toggle(); }
  analysis::CollectorProgress progress() const { return collector_.progress(); }
  // Waits until the collector has stored all events, and writes the manifest.
  void programEnded(int wait_status);

  // Stops the early report and returns the unfinished report. Returns null if there is no early report.
  analysis::RunningReport *earlyReport() { return early_ ? early_->stop() : nullptr; }

  const analysis::CollectorSummary &summary() const { return collector_.summary(); }
  // Whether the collector has found files of the started process.
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
  std::unique_ptr<kernel::KernelSession> kernel_; // null: the user asked for none
  analysis::Collector collector_;
  analysis::Manifest manifest_;
  uint32_t program_pid_ = 0;
  std::promise<bool> begin_; // true: the program was started; false: there is no program
  std::thread thread_;
  bool early_wanted_;
  std::unique_ptr<EarlyReport> early_;
};

} // namespace msleaks::driver
