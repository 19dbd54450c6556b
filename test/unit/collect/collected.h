// Provides a collector for one hand-made arena, and a reader for the trace that the collector writes.
#pragma once

#include "arena_maker.h"

#include "analysis/collect/process_collector.h"
#include "analysis/trace/trace_reader.h"

#include <gtest/gtest.h>
#include <optional>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace msleaks::test {

// Opens an arena that must be valid, and throws otherwise.
inline analysis::ArenaReader openArena(const std::filesystem::path &file) {
  auto arena = analysis::ArenaReader::open(file);
  if (!arena || !*arena)
    throw std::runtime_error(arena ? "unfinished arena" : arena.error().message);
  return std::move(**arena);
}

class CollectedTrace {
public:
  explicit CollectedTrace(const std::filesystem::path &file) : reader_(openTrace(file)) {
    auto read = reader_.forEachEvent([this](const analysis::StreamEvent &event) {
      events.push_back(event);
      return true;
    });
    EXPECT_TRUE(read);
    EXPECT_TRUE(reader_.damage().empty());
  }

  const analysis::TraceReader &reader() const { return reader_; }
  // Returns the addresses of the Alloc events, in the reader's order.
  std::vector<uint64_t> addresses() const {
    std::vector<uint64_t> list;
    for (const auto &event : events)
      if (event.event.header().kind == abi::EventKind::Alloc)
        list.push_back(event.event.as<abi::AllocEvent>().address);
    return list;
  }
  std::optional<analysis::StreamAccount> account(uint32_t stream, uint32_t process = 1) const {
    std::optional<analysis::StreamAccount> found;
    reader_.forEachAccount([&](const analysis::StreamAccount &account) {
      if (account.stream == stream && account.process == process)
        found = account;
    });
    return found;
  }

  std::vector<analysis::StreamEvent> events;

private:
  static analysis::TraceReader openTrace(const std::filesystem::path &file) {
    auto reader = analysis::TraceReader::open(file);
    if (!reader)
      throw std::runtime_error(reader.error().message);
    return std::move(*reader);
  }
  analysis::TraceReader reader_;
};

// Records an event. Waits until the ring has room, as the runtime does with the policy `block`.
inline void recordPatiently(RingMaker &ring, uint64_t number) {
  while (!ring.hasRoom(1))
    std::this_thread::yield();
  ring.recordAlloc(number, number);
}

// Returns the pid of a process that has certainly ended.
inline uint32_t endedPid() {
  const pid_t pid = fork();
  if (pid == 0)
    _exit(0);
  waitpid(pid, nullptr, 0);
  return static_cast<uint32_t>(pid);
}

// Returns the `count` numbers first, first + 1, …
inline std::vector<uint64_t> numbers(uint64_t first, uint64_t count) {
  std::vector<uint64_t> list;
  for (uint64_t i = 0; i < count; ++i)
    list.push_back(first + i);
  return list;
}

class CollectorFixture : public testing::Test {
protected:
  static constexpr uint64_t kNow = 1'000'000'000'000;

  void start(abi::OnFull policy = abi::OnFull::Block) {
    auto created = analysis::TraceWriter::create(trace_file);
    ASSERT_TRUE(created) << created.error().message;
    writer.emplace(std::move(*created));
    output.emplace(analysis::CollectOutput{*writer, clock});
    collector.emplace(1, openArena(arena.path()), policy);
    ASSERT_TRUE(collector->start(*writer));
  }
  uint64_t drain(analysis::Urgency urgency = analysis::Urgency::Everything, uint64_t now = kNow) {
    auto drained = collector->drain(*output, urgency, now);
    EXPECT_TRUE(drained) << drained.error().message;
    return drained ? *drained : 0;
  }
  CollectedTrace finish() {
    EXPECT_TRUE(collector->finish(*output, kNow, 0));
    EXPECT_TRUE(writer->close());
    return CollectedTrace(trace_file);
  }

  ScratchFolder folder;
  std::filesystem::path trace_file = folder / "trace.mslt";
  ArenaMaker arena{folder.path()};
  analysis::ClockModel clock{analysis::ClockLine{}};
  std::optional<analysis::TraceWriter> writer;
  std::optional<analysis::CollectOutput> output;
  std::optional<analysis::ProcessCollector> collector;
};

} // namespace msleaks::test
