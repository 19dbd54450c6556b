// The blocks that are alive where a report ends: the largest, the oldest, and what they leave free of the pools'
// pieces.
#pragma once

#include "analysis/report/out_of_memory.h"
#include "analysis/stream/analyzer.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace msleaks::analysis {

class AliveBlocks final : public Analyzer {
public:
  struct Refused {
    uint32_t process = 0, stream = 0;
    abi::Heap heap = abi::Heap::Host;
    uint64_t time_ns = 0;
  };

  // Fills in the lists of `to`, at most `most` blocks each, and where `refused` was asked for and what room there was.
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
  std::vector<Block> parts_, wholes_; // blocks of pools, and of other heaps, where a pool said no
};

} // namespace msleaks::analysis
