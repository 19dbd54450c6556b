// The launches and ranges of a run, in order of time, with the memory around each of them.
#pragma once

#include "analysis/base/result.h"

#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis::inline compare {

// Numbers of names, so that sequences of launches are sequences of numbers.
// Both sides of a comparison use the same table.
class NameTable {
public:
  NameTable() = default;
  NameTable(const NameTable &) = delete; // numbers_ looks into texts_
  NameTable &operator=(const NameTable &) = delete;

  uint32_t numberOf(std::string_view text) {
    const auto known = numbers_.find(text);
    if (known != numbers_.end())
      return known->second;
    const auto number = static_cast<uint32_t>(texts_.size());
    numbers_.emplace(texts_.emplace_back(text), number);
    return number;
  }
  const std::string &operator[](uint32_t number) const { return texts_[number]; }

private:
  std::deque<std::string> texts_; // a deque, so that a text stays where it is
  std::unordered_map<std::string_view, uint32_t> numbers_;
};

// A launch of a kernel, which ends at the next launch on its device, or a range of the program.
//
// The bytes are those of its device (or of the host) that its process has allocated. Parts of a pool count instead of
// the block that the pool takes them from.
struct Launch {
  uint32_t name = 0; // number in the NameTable
  bool is_range = false;
  uint64_t before_bytes = 0, after_bytes = 0; // when it begins, and when it ends
  uint64_t peak_bytes = 0;                    // the most between both
  int64_t next_bytes = 0; // the first allocation behind its begin, or the first free, as a negative number; 0 = none
};
static_assert(sizeof(Launch) == 40);

// The launches of one process on one device. Ranges are on the host, and on each device that their process uses.
struct LaunchSequence {
  std::optional<uint8_t> device; // none: the host
  uint32_t process = 0;          // number among the processes with launches on this device, by their begin
  std::vector<Launch> launches;
};

struct RunLaunches {
  std::vector<LaunchSequence> sequences; // the host first, then by device; and by process
  std::vector<std::string> damage;       // of the trace, one line each
};

// Reads the events of a run. Memory: 40 bytes for each launch, and each name once; beside them what a report needs for
// the live blocks.
Result<RunLaunches> launchesOf(const std::filesystem::path &run, NameTable &);

} // namespace msleaks::analysis::inline compare
