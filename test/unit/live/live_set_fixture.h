// Common code of the tests of LiveSet: a fixture with the set, and an observer that logs its calls.
#pragma once

#include "analysis/live/live_set.h"

#include "events.h"

#include <gtest/gtest.h>
#include <string>

namespace msleaks::analysis {

// Logs the calls as text, and sums up the live blocks.
class Journal final : public BlockObserver {
public:
  void onAlloc(const Block &block, AllocCause cause, uint64_t) override {
    static const char *const kNames[] = {"alloc", "realloc", "restored", "rest"};
    add("+", block, kNames[static_cast<int>(cause)]);
    bytes += block.bytes();
    ++blocks;
  }
  void onFree(const Block &block, FreeCause cause, uint64_t) override {
    static const char *const kNames[] = {"free", "realloc", "replaced", "rest", "exit", "kill", "exec", "alive"};
    add("-", block, kNames[static_cast<int>(cause)]);
    bytes -= block.bytes();
    --blocks;
  }
  void onRetarget(const Block &block, const Block &before, uint64_t) override {
    add("=", block, ("from " + std::to_string(before.site.index)).c_str());
  }
  void onUse(const Block &block, const Use &use) override {
    add("*", block, use.reads && use.writes ? "both" : use.reads ? "read" : use.writes ? "written" : "used");
  }
  std::string take() { return std::exchange(lines, {}); }

  std::string lines;
  uint64_t bytes = 0, blocks = 0;

private:
  void add(const char *sign, const Block &block, const char *cause) {
    char line[128];
    snprintf(line, sizeof line, "%s%llx:%llu@%u %s\n", sign, static_cast<unsigned long long>(block.address),
             static_cast<unsigned long long>(block.size), block.site.index, cause);
    lines += line;
  }
};

class LiveSetTest : public testing::Test {
protected:
  Journal journal;
  LiveSet live{{&journal}};
  void apply(const StreamEvent &event) { live.apply(event, SiteId{event.event.header().site}); }
};

inline constexpr test::Where kMap{.heap = abi::Heap::Mapping};
inline constexpr uint64_t kPage = 4096;

} // namespace msleaks::analysis
