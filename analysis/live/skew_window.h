// Pairs records of two threads about one address, made a moment apart while their times differ by that moment.
#pragma once

#include "msleaks/abi/events.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace msleaks::analysis::inline live {

// Events of an address by one thread, kept for as long as another thread's event of the same address may turn out to
// belong before them.
class SkewWindow {
public:
  enum class What : uint8_t { Free, ReallocFree, Retain, Count };
  struct Entry {
    uint64_t address, time_ns;
    uint64_t bytes; // bytes of a mapping's part; 0 = the whole block
    abi::AddressSpace space;
    uint32_t stream;
    What what;
  };

  bool empty() const { return entries_.empty(); }

  void add(const Entry &entry) {
    dropExpired(entry.time_ns);
    if (entries_.size() == kKept)
      entries_.erase(entries_.begin());
    entries_.push_back(entry);
  }

  const std::vector<Entry> &entries() const { return entries_; }
  // Goes on with an entry that was kept. False: there is no room for so many.
  bool restore(const Entry &entry) {
    if (entries_.size() == kKept)
      return false;
    entries_.push_back(entry);
    return true;
  }

  // A question for an early record: the address of `stream`'s event at `time_ns`.
  struct Wanted {
    abi::AddressSpace space;
    uint64_t address;
    uint32_t stream;
    uint64_t time_ns;
  };

  // Takes out the first free, or retain, of the address that another thread recorded a moment before.
  std::optional<Entry> takeFree(const Wanted &wanted) {
    return take(wanted, [](What what) { return what != What::Retain; });
  }
  std::optional<Entry> takeRetain(const Wanted &wanted) {
    return take(wanted, [](What what) { return what == What::Retain; });
  }

private:
  template <class IsWanted> std::optional<Entry> take(const Wanted &wanted, IsWanted isWanted) {
    dropExpired(wanted.time_ns);
    const auto match = std::find_if(entries_.begin(), entries_.end(), [&](const Entry &entry) {
      return entry.address == wanted.address && entry.space == wanted.space && entry.stream != wanted.stream &&
             isWanted(entry.what);
    });
    if (match == entries_.end())
      return std::nullopt;
    const Entry found = *match;
    entries_.erase(match);
    return found;
  }

  // An event's time is read from the processor's counter without waiting for the loads before it. One of them may have
  // brought the block's address from another thread: 5 to 16 ns early were seen. No processor keeps an instruction
  // waiting for a microsecond, and processors' counters differ by less. Ticks keep their order when they become
  // nanoseconds, whichever batch they came in (clock_fit.h).
  static constexpr uint64_t kSkewNs = 1'000;
  static constexpr size_t kKept = 16;

  void dropExpired(uint64_t now_ns) {
    std::erase_if(entries_, [&](const Entry &entry) { return entry.time_ns + kSkewNs < now_ns; });
  }

  std::vector<Entry> entries_; // oldest first
};

} // namespace msleaks::analysis::inline live
