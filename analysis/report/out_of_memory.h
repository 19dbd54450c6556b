// The live blocks of a program when it was refused memory, or when it was killed: the answer of `msleaks oom`
// (docs/analyses.md).
#pragma once

#include "analysis/report/analyze_run.h"
#include "analysis/result/report.h"
#include "analysis/stream/analyzer.h"

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace msleaks::analysis::inline report {

// A call of an allocator that was refused.
struct RefusedCall {
  uint64_t bytes = 0;  // that the call asked for
  uint64_t status = 0; // the error number of the API
  abi::Heap heap = abi::Heap::Host;
  uint8_t device = 0;
  uint64_t time_ns = 0;
  uint32_t pid = 0, tid = 0;
  std::vector<SiteLine> place; // one line; empty if the place is not known
};

struct AliveBlock {
  uint64_t bytes = 0, age_ns = 0;
  abi::Heap heap = abi::Heap::Host;
  uint8_t device = 0;
  uint32_t pid = 0;
  SiteText place;
};

// The largest free part of the pool's segments.
struct Hole {
  std::optional<uint64_t> bytes;
  std::string unknown; // why it is not known
};

struct OutOfMemory {
  std::optional<RefusedCall> refused;  // the last refusal without an answer (live/refusals.h)
  uint64_t refusals = 0, answered = 0; // in the whole run
  std::vector<AliveBlock> largest, oldest;
  std::optional<Hole> hole; // if a request was refused
  Report report;            // of the refused process up to that moment; without a refusal, of the whole run
};

// `most` is the largest number of blocks in each list.
Result<OutOfMemory> analyzeOutOfMemory(const std::filesystem::path &run, size_t most, const Progress &progress = {});

// Lists the blocks that are alive at the end of the report's window: the largest and the oldest. Also finds the largest
// free part of the pool's segments.
class AliveBlocks final : public Analyzer {
public:
  struct Refused {
    uint32_t process = 0, stream = 0;
    abi::Heap heap = abi::Heap::Host;
    uint64_t time_ns = 0;
  };

  // Fills in the lists of `to` with at most `most` blocks each. Also fills in the place of `refused`, and the hole.
  AliveBlocks(OutOfMemory &to, size_t most, const std::optional<Refused> &refused)
      : to_(to), most_(most), refused_(refused) {}

  std::string_view name() const override { return "alive_blocks"; }
  uint32_t eventKinds() const override { return abi::enabledBit(abi::EventKind::AllocFailed); }
  void onEvent(const StreamEvent &, SiteId) override;
  void onFree(const Block &, FreeCause, uint64_t time_ns) override;
  void conclude(Conclusion &) const override;

private:
  struct Alive {
    Block block;
    uint64_t age_ns;
  };
  using Order = bool (*)(const Alive &, const Alive &);
  void keep(std::vector<Alive> &list, const Alive &, Order) const;
  std::vector<AliveBlock> named(std::vector<Alive>, Order, Conclusion &) const;
  Hole hole() const;

  OutOfMemory &to_;
  size_t most_;
  std::optional<Refused> refused_;
  SiteId refused_site_;
  std::vector<Alive> largest_, oldest_;
  std::vector<Block> parts_, wholes_; // blocks of pools, and of other heaps, if a pool refused
};

} // namespace msleaks::analysis::inline report
