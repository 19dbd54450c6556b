// Reads the launches and ranges of a run in order of time, with the memory around each of them.
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

// Gives numbers to names, so that sequences of launches are sequences of numbers. Both sides of a comparison use the
// same table.
class NameTable {
public:
  NameTable() = default;
  NameTable(const NameTable &) = delete; // numbers_ refers to texts in texts_
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
  std::deque<std::string> texts_; // a deque does not move its texts
  std::unordered_map<std::string_view, uint32_t> numbers_;
};

// A launch of a kernel, or a range of the program. A launch ends at the next launch on its device.
//
// The bytes are the ones that the process has allocated on the launch's device, or on the host. If a pool takes its
// parts from a block, the parts count instead of the block.
struct Launch {
  uint32_t name = 0; // number in the NameTable
  bool is_range = false;
  uint64_t before_bytes = 0, after_bytes = 0; // at its begin and at its end
  uint64_t peak_bytes = 0;                    // the largest number between begin and end
  int64_t next_bytes = 0; // the first allocation after the begin, or the first free as a negative number; 0: none
};
static_assert(sizeof(Launch) == 40);

// The launches of one process on one device. Each range is in the sequence of the host, and in the sequences of all
// devices that its process uses.
struct LaunchSequence {
  std::optional<uint8_t> device; // none: the host
  uint32_t process = 0;          // number of the process on this device, in order of their begin
  std::vector<Launch> launches;
};

struct RunLaunches {
  std::vector<LaunchSequence> sequences; // the host first, then by device, then by process
  std::vector<std::string> damage;       // damage of the trace, one line each
};

// Reads the events of a run. Needs 40 bytes of memory for each launch, space for each name once, and the memory that a
// report needs for the live blocks.
Result<RunLaunches> launchesOf(const std::filesystem::path &run, NameTable &);

} // namespace msleaks::analysis::inline compare
