// Compares the live set with a slow and simple model: a map per heap, and a map of pages for mappings.
#include "analysis/live/live_set.h"

#include "events.h"

#include <gtest/gtest.h>
#include <map>
#include <random>
#include <tuple>
#include <utility>

namespace msleaks::analysis {

namespace {

constexpr uint64_t kModelPage = 4096;

class Sum final : public BlockObserver {
public:
  void onAlloc(const Block &block, AllocCause, uint64_t) override { ++count, bytes[block.process] += block.bytes(); }
  void onFree(const Block &block, FreeCause, uint64_t) override { --count, bytes[block.process] -= block.bytes(); }
  void onRetarget(const Block &, const Block &, uint64_t) override {}
  uint64_t count = 0;
  std::map<uint32_t, uint64_t> bytes;
};

struct Model {
  std::map<std::pair<uint32_t, uint64_t>, std::pair<uint64_t, uint32_t>> host; // size and site
  std::map<std::pair<uint32_t, uint64_t>, uint16_t> pages;                     // flags
  std::map<std::pair<uint32_t, uint32_t>, std::tuple<uint64_t, uint64_t, uint32_t>> parked;

  uint64_t bytes(uint32_t process) const {
    uint64_t sum = 0;
    for (const auto &[key, block] : host)
      sum += key.first == process ? block.first : 0;
    for (const auto &[key, flags] : pages)
      sum += key.first == process && (flags & abi::kReserve) == 0 ? kModelPage : 0;
    return sum;
  }
};

// Makes random steps, each in the live set and in the model. The times of the steps are far apart, because late frees
// have tests of their own.
class Walk {
public:
  explicit Walk(uint64_t seed) : random_(seed) {}

  void step() {
    time_ += 1'000'000;
    process_ = pick(1, 3);
    stream_ = pick(0, 3);
    site_ = pick(1, 9);
    switch (pick(0, 7)) {
    case 0:
    case 1:
      return alloc();
    case 2:
      return free();
    case 3:
      return realloc();
    case 4:
    case 5:
      return map();
    case 6:
      return protect();
    default:
      return unmap();
    }
  }

  void check() const {
    for (uint32_t process = 1; process <= 3; ++process) {
      const auto at = sum_.bytes.find(process);
      ASSERT_EQ(at == sum_.bytes.end() ? 0 : at->second, model_.bytes(process));
    }
    ASSERT_EQ(live_.liveBlocks(), sum_.count);
    for (const auto &[key, block] : model_.host) {
      const Block *found = live_.find(key.first, AddressSpace::Host, key.second);
      ASSERT_NE(found, nullptr);
      ASSERT_EQ(found->size, block.first);
      ASSERT_EQ(found->site.index, block.second);
    }
  }

  void endAll() {
    for (uint32_t process = 1; process <= 3; ++process)
      live_.endProcess(process, FreeCause::ProcessExited, time_);
    model_ = {};
    check();
  }

private:
  uint32_t pick(uint32_t low, uint32_t high) { return std::uniform_int_distribution<uint32_t>(low, high)(random_); }
  uint64_t anyAddress() { return 0x1000 + 16 * pick(0, 400); }
  void apply(const StreamEvent &event) { live_.apply(event, SiteId{event.event.header().site}); }
  test::Where where(abi::Heap heap, uint16_t flags = 0) const { return {process_, stream_, heap, flags, site_}; }

  void alloc() {
    const uint64_t address = anyAddress(), size = pick(0, 1000);
    apply(test::alloc(time_, address, size, where(abi::Heap::Host)));
    model_.host[{process_, address}] = {size, site_};
  }
  void free() {
    const uint64_t address = anyAddress();
    apply(test::free(time_, address, where(abi::Heap::Host)));
    model_.host.erase({process_, address});
  }
  void realloc() {
    const uint64_t old = anyAddress(), fresh = anyAddress(), size = pick(0, 1000);
    apply(test::free(time_, old, where(abi::Heap::Host, abi::kRealloc)));
    auto taken = model_.host.extract({process_, old});
    if (pick(0, 2) == 0) {
      apply(test::alloc(time_ + 10, 0, 0, where(abi::Heap::Host, abi::kRealloc | abi::kRestored)));
      model_.host.insert(std::move(taken));
    } else {
      apply(test::alloc(time_ + 10, fresh, size, where(abi::Heap::Host, abi::kRealloc)));
      model_.host[{process_, fresh}] = {size, site_};
    }
  }
  void map() {
    const uint64_t first = pick(0, 60), count = pick(1, 12);
    const uint16_t kinds[] = {0, abi::kReserve, abi::kReserve | abi::kFile};
    const uint16_t flags = kinds[pick(0, 2)];
    apply(test::alloc(time_, (first + 16) * kModelPage, count * kModelPage, where(abi::Heap::Mapping, flags)));
    for (uint64_t page = first; page < first + count; ++page)
      model_.pages[{process_, page}] = flags;
  }
  void protect() {
    const uint64_t first = pick(0, 60), count = pick(1, 30);
    const uint16_t reserve = pick(0, 1) != 0 ? abi::kReserve : 0;
    apply(test::protect(time_, (first + 16) * kModelPage, count * kModelPage - pick(0, 4095), reserve, process_));
    for (auto &[key, flags] : model_.pages)
      if (key.first == process_ && key.second >= first && key.second < first + count && (flags & abi::kFile) == 0)
        flags = reserve;
  }
  void unmap() {
    const uint64_t first = pick(0, 60), count = pick(1, 30), begin = (first + 16) * kModelPage;
    apply(test::free(time_, begin, where(abi::Heap::Mapping), count * kModelPage - pick(0, 4095)));
    if (pick(0, 3) == 0) // in this case, the kernel refused the call
      return apply(test::alloc(time_ + 10, begin, 0, where(abi::Heap::Mapping, abi::kRestored)));
    for (uint64_t page = first; page < first + count; ++page)
      model_.pages.erase({process_, page});
  }

  std::mt19937_64 random_;
  uint64_t time_ = 0;
  uint32_t process_ = 1, stream_ = 0, site_ = 1;
  Sum sum_;
  LiveSet live_{{&sum_}};
  Model model_;
};

} // namespace

class LiveSetModel : public testing::TestWithParam<uint64_t> {};

TEST_P(LiveSetModel, AgreesAfterEveryStep) {
  Walk walk(GetParam());
  for (int i = 0; i < 4000 && !HasFatalFailure(); ++i) {
    walk.step();
    if (i < 500 || i % 50 == 0)
      walk.check();
  }
  walk.endAll();
}

INSTANTIATE_TEST_SUITE_P(Seeds, LiveSetModel, testing::Values(1, 2, 3, 4, 5, 6, 7, 8));

} // namespace msleaks::analysis
