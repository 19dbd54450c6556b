// Builds streams of random events with any kind and any value, and the events that a reader must return for them.
#pragma once

#include "analysis/trace/trace_reader.h"
#include "msleaks/abi/events.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace msleaks::analysis::test {

inline std::vector<abi::EventKind> allKinds() {
  return {
#define MSL_EVENT(name, number, slots, doc) abi::EventKind::name,
#include "msleaks/abi/events.def"
  };
}

// Returns the accounts in the order of process and stream.
inline std::vector<StreamAccount> accountsOf(const TraceReader &reader) {
  std::vector<StreamAccount> accounts;
  reader.forEachAccount([&](const StreamAccount &account) { accounts.push_back(account); });
  std::sort(accounts.begin(), accounts.end(), [](const StreamAccount &a, const StreamAccount &b) {
    return std::pair(a.process, a.stream) < std::pair(b.process, b.stream);
  });
  return accounts;
}

// Returns values of very different sizes, so that varints of every length occur.
inline uint64_t randomValue(std::mt19937_64 &random) { return random() >> (random() % 64); }

inline void appendRandomEvent(std::vector<abi::Slot> &slots, uint64_t time_ns, std::mt19937_64 &random) {
  const std::vector<abi::EventKind> kinds = allKinds();
  const abi::EventKind kind = kinds[random() % kinds.size()];
  abi::Slot slot{};
  slot.header = {kind,
                 static_cast<abi::Heap>(random() % 6),
                 static_cast<uint8_t>(random() % 3),
                 static_cast<uint8_t>(random() % 128),
                 static_cast<uint32_t>(randomValue(random)),
                 time_ns};
  slot.payload[0] = randomValue(random);
  slot.payload[1] = randomValue(random);
  slots.push_back(slot);
  for (unsigned i = 1; i < abi::slotsOf(kind); ++i) {
    const std::array<uint64_t, 4> words{abi::kContinuationTag, randomValue(random), randomValue(random),
                                        randomValue(random)};
    std::memcpy(&slot, words.data(), sizeof slot);
    slots.push_back(slot);
  }
}

inline std::vector<abi::Slot> randomSlots(size_t events, uint64_t begin_ns, std::mt19937_64 &random) {
  std::vector<abi::Slot> slots;
  uint64_t time_ns = begin_ns;
  for (size_t i = 0; i < events; ++i)
    appendRandomEvent(slots, time_ns += random() % 100, random);
  return slots;
}

// Returns the events in `slots`, as a reader returns them.
inline std::vector<StreamEvent> eventsOf(uint32_t process, uint32_t stream, std::span<const abi::Slot> slots) {
  std::vector<StreamEvent> events;
  for (size_t i = 0; i < slots.size(); i += abi::slotsOf(slots[i].header.kind)) {
    StreamEvent event{process, stream, {}};
    std::copy_n(&slots[i], abi::slotsOf(slots[i].header.kind), event.event.slots);
    events.push_back(event);
  }
  return events;
}

inline bool sameEvent(const StreamEvent &a, const StreamEvent &b) {
  const size_t bytes = abi::slotsOf(a.event.header().kind) * abi::kSlotBytes;
  return a.process == b.process && a.stream == b.stream && std::memcmp(a.event.slots, b.event.slots, bytes) == 0;
}

inline void expectSame(const std::vector<StreamEvent> &a, const std::vector<StreamEvent> &b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_TRUE(sameEvent(a[i], b[i])) << "event " << i;
}

inline std::vector<StreamEvent> readAll(const TraceReader &reader, uint64_t begin_ns = 0,
                                        uint64_t end_ns = UINT64_MAX) {
  std::vector<StreamEvent> events;
  const auto given = reader.forEachEvent(
      [&](const StreamEvent &event) {
        events.push_back(event);
        return true;
      },
      begin_ns, end_ns);
  if (!given || *given != events.size())
    throw std::runtime_error("forEachEvent miscounts");
  return events;
}

inline std::string contentOf(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A temporary folder. It is in memory if possible, because the tests write thousands of small files.
class ScratchFolder {
public:
  ScratchFolder() {
    std::string name = "/dev/shm/msleaks-trace-XXXXXX";
    if (!::mkdtemp(name.data())) {
      name = (std::filesystem::temp_directory_path() / "msleaks-trace-XXXXXX").string();
      if (!::mkdtemp(name.data()))
        throw std::runtime_error("no scratch folder");
    }
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::filesystem::path operator/(const std::string &name) const { return path_ / name; }
  const std::filesystem::path &path() const { return path_; }

private:
  std::filesystem::path path_;
};

} // namespace msleaks::analysis::test
