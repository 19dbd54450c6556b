// The ledger: the parts of the memory of the host and of each device, at the peak and at the end (docs/analyses.md).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace msleaks::analysis::inline result {

enum class LedgerSource : uint8_t {
  Blocks,
  ClosedLibrary,
  PoolUsed,
  PoolFree,
  Driver,
  Manager,
  Allocator,
  AllocatorFree,
  FileBacked,
  ImageData,
  Recorder,
  NotResident,
  Unattributed,
};
inline constexpr size_t kLedgerSources = static_cast<size_t>(LedgerSource::Unattributed) + 1;
const char *nameOf(LedgerSource);
const char *meaningOf(LedgerSource); // in a few words

// The bytes of each source. Their sum is the resident memory, if that is known.
class LedgerSums {
public:
  int64_t &operator[](LedgerSource source) { return bytes_[static_cast<size_t>(source)]; }
  int64_t operator[](LedgerSource source) const { return bytes_[static_cast<size_t>(source)]; }
  LedgerSums &operator+=(const LedgerSums &other) {
    for (size_t i = 0; i < kLedgerSources; ++i)
      bytes_[i] += other.bytes_[i];
    return *this;
  }
  int64_t total() const {
    int64_t sum = 0;
    for (const int64_t bytes : bytes_)
      sum += bytes;
    return sum;
  }

private:
  std::array<int64_t, kLedgerSources> bytes_{};
};

struct LedgerLine {
  std::optional<uint8_t> device; // none = the host
  LedgerSource source = LedgerSource::Blocks;
  int64_t bytes = 0;         // at the end of the processes
  int64_t at_peak_bytes = 0; // at the peak over all physical heaps
};
// The host's lines, then each device's lines, in the order of the sources. A line that is 0 both times is left out.
using Ledger = std::vector<LedgerLine>;

} // namespace msleaks::analysis::inline result
