// Writes what a session has alive into its directory, as long as somebody watches it.
#pragma once

#include "analysis/base/result.h"
#include "analysis/report/running_report.h"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace msleaks::analysis::inline watch {

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

// Reads what msleaks-run writes of a session for who watches it.
class SumsWatcher {
public:
  explicit SumsWatcher(std::filesystem::path session) : session_(std::move(session)) {}

  // Says that somebody watches, and reads what was written since. False: there is nobody to ask, or he has said nothing
  // for kSilentNs.
  bool look();
  // The last that was read; empty before the first one.
  const std::vector<uint8_t> &bytes() const { return bytes_; }

  static constexpr uint64_t kSilentNs = 2'000'000'000;

private:
  bool touch() const;
  bool read();

  std::filesystem::path session_;
  std::vector<uint8_t> bytes_;
  uint64_t inode_ = 0, modified_ns_ = 0; // of the file that was read last
  uint64_t heard_ns_ = 0;                // CLOCK_MONOTONIC, when something new was read last, or it was looked first
};

} // namespace msleaks::analysis::inline watch
