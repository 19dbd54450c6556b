// One recording from its folder to its last line: everything around the program that is ours.
#pragma once

#include "run/options.h"

#include "msleaks/analysis/collector.h"

#include <memory>
#include <optional>
#include <thread>

namespace msleaks::driver {

class Recording {
public:
  // Makes the output folder, the trace and the session's shared memory, or none of them.
  static Result<std::unique_ptr<Recording>> create(const RunOptions &);
  ~Recording();

  const std::filesystem::path &session() const { return session_.path(); }
  const std::filesystem::path &output() const { return folder_.path(); }

  // The program could not be started: nothing of the recording stays.
  void discard();
  void programStarted(pid_t);
  analysis::CollectorProgress progress() const { return collector_.progress(); }
  // Waits until everything is stored, and writes the manifest.
  void programEnded(int wait_status);

  const analysis::CollectorSummary &summary() const { return collector_.summary(); }
  uint64_t collectorCpuNs() const { return manifest_.collector_cpu_ns; }
  uint64_t durationNs() const { return manifest_.end_ns - manifest_.start_ns; }

private:
  Recording(analysis::Manifest, analysis::RunFolder, analysis::SessionDir, analysis::TraceWriter);
  static Result<std::unique_ptr<Recording>> tryToCreate(const RunOptions &);
  void finishManifest(int wait_status);

  analysis::RunFolder folder_;
  analysis::SessionDir session_;
  analysis::Collector collector_;
  analysis::Manifest manifest_;
  uint32_t program_pid_ = 0;
  std::thread thread_;
};

} // namespace msleaks::driver
