// Fuzzes the reader of checkpoints: it refuses arbitrary bytes, or the loaded live set can apply further events.
#include "analysis/live/live_set.h"

#include "../unit/live/random_run.h"

#include <cstdlib>
#include <vector>

namespace {

using namespace msleaks;
using namespace msleaks::analysis;

class Count final : public BlockObserver {
public:
  void onAlloc(const Block &, AllocCause, uint64_t) override { ++alive; }
  void onFree(const Block &, FreeCause, uint64_t) override { --alive; }
  void onRetarget(const Block &, const Block &, uint64_t) override {}
  int64_t alive = 0;
};

uint64_t countOf(const LiveSet &live) {
  uint64_t count = 0;
  live.forEach([&](const Block &) { ++count; });
  return count;
}

std::vector<uint8_t> saved(const LiveSet &live) {
  ByteWriter to;
  const auto numbers = [](const std::vector<SiteId> &sites) {
    std::vector<SiteNumber> numbers;
    for (const SiteId site : sites)
      numbers.push_back({1, site.index});
    return numbers;
  };
  if (!live.save(1, numbers, to))
    std::abort();
  return {to.written().begin(), to.written().end()};
}

bool load(LiveSet &live, std::span<const uint8_t> state) {
  return live.load(1, state, [](SiteNumber site) { return SiteId{site.number % 1024}; });
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size) {
  Count count;
  LiveSet live({&count});
  if (!load(live, {input, size})) {
    if (countOf(live) != 0 || live.liveBlocks() != 0)
      std::abort();
    return 0;
  }
  LiveSet twin({});
  if (!load(twin, saved(live)) || twin.liveBlocks() != live.liveBlocks())
    std::abort();

  count.alive = static_cast<int64_t>(live.liveBlocks());
  msleaks::test::RandomRun run(size);
  for (int i = 0; i < 200; ++i) {
    const StreamEvent event = run.next();
    live.apply(event, {event.event.header().site});
  }
  if (countOf(live) != live.liveBlocks() || count.alive != static_cast<int64_t>(live.liveBlocks()))
    std::abort();
  for (const uint32_t process : live.processes())
    live.endProcess(process, FreeCause::ProcessExited, run.now());
  if (live.liveBlocks() != 0 || count.alive != 0)
    std::abort();
  return 0;
}
