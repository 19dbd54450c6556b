// Provides a complete recording session within the test's process.
#pragma once

#include "collected.h"

#include "analysis/collect/collector.h"

#include <chrono>
#include <optional>
#include <stdexcept>
#include <thread>

namespace msleaks::test {

// Waits at most 10 s until the condition is true, and returns whether it is true.
template <class Condition> bool soon(Condition &&condition) {
  for (int i = 0; i < 2000 && !condition(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return condition();
}

class SessionTest : public testing::Test {
protected:
  void SetUp() override {
    analysis::SessionWish wish;
    wish.place = analysis::SessionDir::propose(folder.path());
    wish.clock = abi::ClockKind::Monotonic;
    wish.enabled = ~0u;
    wish.flags.ring_max_kib = 16;
    wish.flags.access = abi::AccessSource::Calls; // the tests count events, and this process may have a large heap
    auto created = analysis::SessionDir::create(wish);
    ASSERT_TRUE(created) << created.error().message;
    session.emplace(std::move(*created));
    auto trace = analysis::TraceWriter::create(folder / "trace.mslt");
    ASSERT_TRUE(trace);
    collector.emplace(*session, std::move(*trace));
    collector->programStarted(static_cast<uint32_t>(getpid()));
  }

  analysis::ProcessEnd endOf(uint32_t process) {
    const CollectedTrace trace(folder / "trace.mslt");
    for (const auto &end : trace.reader().processEnds())
      if (end.process == process)
        return end;
    throw std::runtime_error("no such end");
  }

  ScratchFolder folder;
  std::optional<analysis::SessionDir> session;
  std::optional<analysis::Collector> collector;
};

} // namespace msleaks::test
