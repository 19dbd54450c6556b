// bench_holding BLOCKS: measures the time to find the block that contains a given address, among BLOCKS live blocks.
// Also measures an allocation and a free in the live set, before and after the first such search. Prints Markdown rows.
#include "analysis/live/live_set.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace {

using namespace msleaks;
using namespace msleaks::analysis;

constexpr uint64_t kRounds = 2'000'000;

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

template <class F> double nanosecondsEach(uint64_t rounds, F &&f) {
  const double begin = seconds();
  for (uint64_t i = 0; i < rounds; ++i)
    f(i);
  return (seconds() - begin) * 1e9 / static_cast<double>(rounds);
}

// Blocks at addresses like those that malloc returns: each block follows the previous one, and has 16 to 1,024 bytes.
class Blocks {
public:
  explicit Blocks(size_t count) {
    uint64_t address = 0x5555'0000'0000;
    for (size_t i = 0; i < count; ++i, address += sizes_.back() + 16) {
      addresses_.push_back(address);
      sizes_.push_back(16 * (1 + random_() % 64));
    }
  }
  size_t pick() { return random_() % addresses_.size(); }
  uint64_t pointerInto(size_t block) { return addresses_[block] + random_() % sizes_[block]; }
  void alloc(LiveSet &live, size_t block) { apply<abi::AllocEvent>(live, block, sizes_[block]); }
  void free(LiveSet &live, size_t block) { apply<abi::FreeEvent>(live, block, 0); }
  size_t size() const { return addresses_.size(); }

private:
  template <class Event> void apply(LiveSet &live, size_t block, uint64_t bytes) {
    Event event{};
    event.header.kind = Event::kKind;
    event.header.time = ++now_ns_;
    event.address = addresses_[block];
    event.size = bytes;
    live.apply({1, 0, abi::AnyEvent::from(event)}, SiteId{1});
  }
  std::mt19937_64 random_{1};
  std::vector<uint64_t> addresses_, sizes_;
  uint64_t now_ns_ = 0;
};

} // namespace

int main(int count, char **arguments) {
  const size_t wanted = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 0;
  if (wanted == 0) {
    std::fprintf(stderr, "usage: bench_holding BLOCKS\n");
    return 2;
  }
  Blocks blocks(wanted);
  LiveSet live({});
  for (size_t i = 0; i < blocks.size(); ++i)
    blocks.alloc(live, i);
  const auto churn = [&](uint64_t) {
    const size_t block = blocks.pick();
    blocks.free(live, block);
    blocks.alloc(live, block);
  };
  const double before_ns = nanosecondsEach(kRounds, churn);
  const double first_ms = nanosecondsEach(1,
                                          [&](uint64_t) {
                                            if (!live.holding(1, AddressSpace::Host, blocks.pointerInto(0)))
                                              std::abort();
                                          }) /
                          1e6;
  const double find_ns = nanosecondsEach(kRounds, [&](uint64_t) {
    if (!live.holding(1, AddressSpace::Host, blocks.pointerInto(blocks.pick())))
      std::abort();
  });
  const double after_ns = nanosecondsEach(kRounds, churn);
  std::printf("| interior pointer among %zu blocks | %.0f ns | first question %.0f ms |\n", wanted, find_ns, first_ms);
  std::printf("| free and alloc, never asked / asked | %.0f ns | %.0f ns |\n", before_ns, after_ns);
  return 0;
}
