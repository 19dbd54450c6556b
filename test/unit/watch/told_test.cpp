// Tests that a watcher shows the same blocks, whether it gets them from msleaks-run or reads the trace.
#include "watch_fixture.h"

#include "analysis/base/machine.h"
#include "analysis/collect/session_dir.h"
#include "analysis/watch/published_sums.h"
#include "analysis/watch/session_sums.h"

#include <atomic>
#include <map>
#include <optional>
#include <random>
#include <thread>

namespace msleaks::analysis {
namespace {

// Does what msleaks-run does while it records a program: it follows the trace, and publishes sums for watchers.
class Teller {
public:
  Teller(const std::filesystem::path &run, const std::filesystem::path &session)
      : running_(std::move(*RunningReport::follow(run))), publisher_(session), thread_([this] { tell(); }) {}
  ~Teller() { stop(); }
  void stop() {
    stopped_ = true;
    if (thread_.joinable())
      thread_.join();
  }

private:
  void tell() {
    while (!stopped_) {
      if (!running_->advance())
        return;
      publisher_.offer(*running_);
      sleepNs(5'000'000);
    }
  }
  std::unique_ptr<RunningReport> running_;
  SumsPublisher publisher_;
  std::atomic<bool> stopped_{false};
  std::thread thread_;
};

class ToldTest : public WatchTest {
protected:
  void SetUp() override {
    WatchTest::SetUp();
    session = base / "session";
    SessionWish wish;
    wish.place = session;
    wish.fallback = base / "fallback";
    auto made = SessionDir::create(wish);
    ASSERT_TRUE(made) << made.error().message;
    collected.emplace(std::move(*made));
    Manifest manifest;
    manifest.state = "running";
    manifest.start_ns = kStart;
    manifest.session_dir = session.string();
    ASSERT_TRUE(RunFolder::open(run)->writeManifest(manifest));
    start(1, 4711);
  }
  std::unique_ptr<LiveAnalysis> watchSession() {
    auto live = LiveAnalysis::open(run, WatchSource::Session);
    EXPECT_TRUE(live) << live.error().message;
    return live ? std::move(*live) : nullptr;
  }
  // Waits until `live` has read this many events.
  void takeAllOf(LiveAnalysis &live, uint64_t events) {
    for (int i = 0; i < 1000 && live.frame().events != events; ++i) {
      ASSERT_TRUE(live.advance());
      sleepNs(5'000'000);
    }
    ASSERT_EQ(live.frame().events, events);
  }
  static json rowsOf(LiveAnalysis &live) {
    json frame = json::parse(jsonOf(live.frame({true, true}), "RUN"));
    for (const char *key : {"time_ns", "events_per_s"})
      frame.erase(key);
    return frame;
  }
  std::vector<StreamEvent> someEvents(size_t count) {
    std::vector<StreamEvent> list;
    for (size_t i = 0; i < count; ++i) {
      const abi::Heap heap = random() % 4 == 0 ? abi::Heap::Pool : abi::Heap::Host;
      const Where where{
          .stream = static_cast<uint32_t>(random() % 3), .heap = heap, .site = static_cast<uint32_t>(random() % 4)};
      const std::pair key{heap, 64 + random() % 50 * 64};
      now_ns += 10;
      list.push_back(alive.erase(key) ? test::free(now_ns, key.second, where)
                                      : test::alloc(now_ns, key.second, random() % 1000, where));
      if (list.back().event.header().kind == abi::EventKind::Alloc)
        alive[key] = true;
    }
    now_ns += 10'000; // longer than the clocks of two threads may differ
    return list;
  }

  void growBySome() {
    const std::vector<StreamEvent> list = someEvents(300);
    grow(list, now_ns);
  }

  std::filesystem::path session;
  std::optional<SessionDir> collected; // while this object exists, a collector seems to run
  std::mt19937_64 random{3};
  std::map<std::pair<abi::Heap, uint64_t>, bool> alive;
  uint64_t now_ns = kStart;
};

} // namespace

TEST_F(ToldTest, SeesWhatTheTraceSays) {
  const Teller teller(run, session);
  auto told = watchSession(), read = watch();
  ASSERT_TRUE(told->isTold());
  ASSERT_FALSE(read->isTold());
  for (uint64_t round = 1; round <= 4; ++round) {
    growBySome();
    takeAllOf(*told, round * 300);
    takeAll(*read);
    EXPECT_EQ(json::diff(rowsOf(*read), rowsOf(*told)).dump(), "[]");
    if (round == 2) {
      told->setMoment();
      read->setMoment();
    }
  }
  ASSERT_TRUE(told->isTold());
}

TEST_F(ToldTest, ReadsTheTraceWhenNobodyTells) {
  growBySome();
  const auto live = watchSession(); // reads the trace at once, because nothing publishes sums
  EXPECT_FALSE(live->isTold());
  takeAllOf(*live, 300);
  const SumsPublisher silent(session);
  const auto waited = watchSession(); // reads the trace after a second without an answer
  EXPECT_FALSE(waited->isTold());
  takeAllOf(*waited, 300);
}

TEST_F(ToldTest, ReadsTheTraceWhenTheSessionHasGoneAndKeepsTheMoment) {
  Teller teller(run, session);
  auto told = watchSession(), read = watch();
  ASSERT_TRUE(told->isTold());
  growBySome();
  takeAllOf(*told, 300);
  takeAll(*read);
  told->setMoment();
  read->setMoment();
  growBySome();
  takeAllOf(*told, 600);
  teller.stop();
  collected->remove();
  EXPECT_FALSE(std::filesystem::exists(session));
  collected.reset();
  end(1, 0, now_ns);
  manifest();
  close();
  takeAllOf(*told, 600);
  takeAll(*told);
  takeAll(*read);
  EXPECT_FALSE(told->isTold());
  EXPECT_EQ(told->frame().state, WatchState::Ended);
  EXPECT_EQ(json::diff(rowsOf(*read), rowsOf(*told)).dump(), "[]");
}

TEST_F(ToldTest, WritesOnlyWhileSomebodyWatches) {
  const Teller teller(run, session);
  sleepNs(300'000'000);
  EXPECT_EQ(std::filesystem::file_size(session / kSumsFile), 0u);
  const auto live = watchSession();
  EXPECT_TRUE(live->isTold());
  EXPECT_GT(std::filesystem::file_size(session / kSumsFile), 0u);
}

TEST_F(ToldTest, SumsThatMakeNoSenseAreNone) {
  growBySome();
  auto running = RunningReport::follow(run);
  ASSERT_TRUE(running && (*running)->advance());
  Symbolizer symbolizer;
  SiteCatalog catalog(symbolizer);
  const auto bytes = encode(sumsOf(**running), (*running)->analysis().catalog);
  ASSERT_TRUE(bytes);
  ASSERT_TRUE(decodeSums(*bytes, catalog));
  for (size_t size = 0; size < bytes->size(); ++size)
    EXPECT_FALSE(decodeSums(std::span(*bytes).first(size), catalog)) << size;
  std::vector<uint8_t> longer = *bytes;
  longer.push_back(0);
  EXPECT_FALSE(decodeSums(longer, catalog));
}

} // namespace msleaks::analysis
