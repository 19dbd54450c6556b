// Writes what a session has alive into its directory, as long as somebody watches it.
#pragma once

#include "analysis/report/running_report.h"

#include <cstdint>
#include <filesystem>

namespace msleaks::analysis {

// Who watches says so each frame; who has not for so long does not any more.
inline constexpr uint64_t kWatchedNs = 3'000'000'000;

class SumsPublisher {
public:
  // From now on there is somebody to ask: the files for both sides are there. Who watches makes none, so that the
  // directory can be removed at any time.
  explicit SumsPublisher(std::filesystem::path session);

  // Looks now and then whether somebody watches, and writes what there is for him. What cannot be written is left out.
  void offer(const RunningReport &);

private:
  static constexpr uint64_t kLookNs = 100'000'000, kWriteNs = 250'000'000;
  bool isWatched() const;
  bool write(const RunningReport &) const;

  std::filesystem::path session_;
  uint64_t next_ns_ = 0;
};

} // namespace msleaks::analysis
