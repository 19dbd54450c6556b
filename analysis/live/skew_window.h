// Pairs events of two threads about one address, which differ in time by less than the clocks' errors.
#pragma once

#include "msleaks/abi/events.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace msleaks::analysis::inline live {

// Stores events of one thread about an address. An event stays as long as another thread's event about the address may
// really have happened before it.
class SkewWindow {
public:
  enum class What : uint8_t { Free, ReallocFree, Retain, Count };
  struct Entry {
    uint64_t address, time_ns;
    uint64_t bytes; // size of a mapping's part; 0 = the whole block
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
  // Restores a stored entry. Returns false if there is no space for it.
  bool restore(const Entry &entry) {
    if (entries_.size() == kKept)
      return false;
    entries_.push_back(entry);
    return true;
  }

  // The key of a look-up: an earlier entry for the address of `stream`'s event at `time_ns` is wanted.
  struct Wanted {
    abi::AddressSpace space;
    uint64_t address;
    uint32_t stream;
    uint64_t time_ns;
  };

  // Removes and returns the first free (or retain) of the address that another thread recorded a moment before.
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

  // The processor's counter is read without waiting for earlier loads. Such a load may have brought the block's
  // address from another thread: events were 5 to 16 ns too early. No processor delays an instruction for a
  // microsecond, and counters of processors differ by less. The conversion of ticks to ns keeps the order of ticks
  // (clock_fit.h).
  static constexpr uint64_t kSkewNs = 1'000;
  static constexpr size_t kKept = 16;

  void dropExpired(uint64_t now_ns) {
    std::erase_if(entries_, [&](const Entry &entry) { return entry.time_ns + kSkewNs < now_ns; });
  }

  std::vector<Entry> entries_; // the oldest first
};

} // namespace msleaks::analysis::inline live
