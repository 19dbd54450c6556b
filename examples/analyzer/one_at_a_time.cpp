// An example of an analyzer (docs/analyzers.md). It finds places that allocate many blocks, but never have more than
// one live block. The program could use one block for all allocations of such a place.
//
//   c++ -std=c++20 -O2 -shared -fPIC -I/opt/msleaks/include one_at_a_time.cpp -o one_at_a_time.so
//   msleaks report RUN --analyzer ./one_at_a_time.so
#include "msleaks/analyzer.h"

#include <algorithm>
#include <map>
#include <vector>

namespace {

using namespace msleaks::analyzer;

constexpr uint64_t kLeastBlocks = 100; // places with fewer blocks are not reported

// The sums over the blocks of a group (Block::group), or over the blocks of all groups of a place.
struct Sum {
  uint64_t blocks = 0, bytes = 0, largest_bytes = 0;
  uint64_t alive = 0, most_alive = 0;
};

class OneAtATime final : public Analyzer {
public:
  uint32_t eventKinds() const override { return bitOf(EventKind::Step); }
  void onEvent(const Event &) override { ++steps_; }

  void onAlloc(const Block &block, Birth birth, uint64_t) override {
    Sum &sum = sumOf(block.group);
    ++sum.alive;
    sum.most_alive = std::max(sum.most_alive, sum.alive);
    if (birth != Birth::Allocated)
      return;
    ++sum.blocks;
    sum.bytes += block.bytes;
    sum.largest_bytes = std::max(sum.largest_bytes, block.bytes);
  }
  void onFree(const Block &block, Death, uint64_t) override { --sumOf(block.group).alive; }
  void onRetarget(const Block &now, const Block &before, uint64_t time_ns) override {
    Sum &sum = sumOf(before.group);
    --sum.alive;
    --sum.blocks;
    sum.bytes -= now.bytes;
    onAlloc(now, Birth::Allocated, time_ns);
  }

  void conclude(Conclusion &conclusion) override {
    Table table{"places",
                "Places with one block at a time",
                {{"place", Unit::Place}, {"blocks"}, {"largest", Unit::Bytes}},
                {}};
    for (const auto &[place, groups] : byPlace(conclusion)) {
      Sum all;
      std::vector<Share> shares;
      for (const uint32_t group : groups) {
        const Sum &sum = sums_[group];
        all.blocks += sum.blocks;
        all.most_alive += sum.most_alive;
        all.largest_bytes = std::max(all.largest_bytes, sum.largest_bytes);
        shares.push_back({group, 0, sum.bytes, sum.blocks});
      }
      if (all.blocks < kLeastBlocks || all.most_alive > 1)
        continue;
      const uint32_t site = conclusion.siteOf(groups.front());
      table.rows.push_back({AtSite{site}, all.blocks, all.largest_bytes});
      conclusion.add(Finding{.kind = "repeated",
                             .confidence = Confidence::Likely,
                             .shares = std::move(shares),
                             .evidence = {{"largest_bytes", all.largest_bytes}, {"steps", steps_}},
                             .advice = "Keep one block for all of these: there is never a second one."});
    }
    if (!table.rows.empty())
      conclusion.add(table);
  }

private:
  Sum &sumOf(uint32_t group) {
    if (group >= sums_.size())
      sums_.resize(group + 1);
    return sums_[group];
  }
  // Returns the numbers of the groups of each place in the user's own code. Blocks of one place are in different groups
  // if their path, thread or heap differs.
  std::map<uint32_t, std::vector<uint32_t>> byPlace(const Conclusion &conclusion) const {
    std::map<uint32_t, std::vector<uint32_t>> places;
    for (uint32_t group = 1; group < sums_.size(); ++group)
      if (const Place &place = conclusion.place(conclusion.siteOf(group)); sums_[group].blocks != 0 && place.own != 0)
        places[place.number].push_back(group);
    return places;
  }

  std::vector<Sum> sums_; // by group
  uint64_t steps_ = 0;
};

} // namespace

MSL_ANALYZER(one_at_a_time, OneAtATime)
