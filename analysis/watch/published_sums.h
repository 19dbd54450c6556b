// Publishes the sums of a session's live blocks in the session's directory, while somebody watches the session.
#pragma once

#include "analysis/base/result.h"
#include "analysis/report/running_report.h"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace msleaks::analysis::inline watch {

// A watcher touches a file at each frame. If it has not done so for this time, nobody watches any more.
inline constexpr uint64_t kWatchedNs = 3'000'000'000;

class SumsPublisher {
public:
  // Creates the files for both sides. A watcher then knows that it can ask. A watcher creates no file, so that the
  // directory can be removed at any time.
  explicit SumsPublisher(std::filesystem::path session);

  // Checks from time to time whether somebody watches, and if so, writes the sums. A failure to write is ignored.
  void offer(const RunningReport &);

private:
  static constexpr uint64_t kLookNs = 100'000'000, kWriteNs = 250'000'000;
  bool isWatched() const;
  bool write(const RunningReport &) const;

  std::filesystem::path session_;
  uint64_t next_ns_ = 0;
};

// Reads the sums that msleaks-run publishes for watchers.
class SumsWatcher {
public:
  explicit SumsWatcher(std::filesystem::path session) : session_(std::move(session)) {}

  // Shows that somebody watches, and reads new sums. False: nobody publishes sums, or there were no new ones for
  // kSilentNs.
  bool look();
  // The sums that were read last; empty: none yet.
  const std::vector<uint8_t> &bytes() const { return bytes_; }

  static constexpr uint64_t kSilentNs = 2'000'000'000;

private:
  bool touch() const;
  bool read();

  std::filesystem::path session_;
  std::vector<uint8_t> bytes_;
  uint64_t inode_ = 0, modified_ns_ = 0; // of the last file that was read
  uint64_t heard_ns_ = 0;                // CLOCK_MONOTONIC: when new sums were last read, or the first look
};

} // namespace msleaks::analysis::inline watch
