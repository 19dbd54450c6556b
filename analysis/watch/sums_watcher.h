// Reads what msleaks-run writes of a session for who watches it.
#pragma once

#include "analysis/base/result.h"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace msleaks::analysis {

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

} // namespace msleaks::analysis
