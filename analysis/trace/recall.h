// Two ways to say a value that was there before in fewer bytes than the value: by how long ago, and by its number in a
// list. Both forget: what the writer's small table has lost is simply said in full again.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace msleaks::analysis::trace {

// A multiplication by 2^64 / golden ratio spreads what is regular in addresses over the upper bits.
constexpr uint32_t tableSlot(uint64_t value, unsigned bits) {
  return static_cast<uint32_t>(value * 0x9e37'79b9'7f4a'7c15u >> (64 - bits));
}

// How many mentions back a value may lie and still be recalled. Blocks die young: four times as far would find no more
// than 1 % of the addresses of a compiler's or an interpreter's run.
inline constexpr uint32_t kRecallReach = 1024;

// By how many mentions ago: addresses, which are freed soon after they are handed out and handed out soon after that.
// The last values themselves, and a table that only says where among them to look: 16 KiB in all, half of a first-level
// cache. What the table says may be long overwritten; the value there tells.
class RecallWriter {
public:
  void restart() { begin_ = count_; }
  // Mentions since the last one of this value, from 1; 0 = it must be said in full.
  uint32_t mention(uint64_t value) {
    uint16_t &place = places_[tableSlot(value, kBits)];
    const uint32_t ago = ((count_ - 1 - place) & (kRecallReach - 1)) + 1; // of the last mention that was stored there
    const bool known = values_[place] == value && ago <= count_ - begin_;
    place = static_cast<uint16_t>(count_ & (kRecallReach - 1));
    values_[place] = value;
    ++count_;
    return known ? ago : 0;
  }

private:
  static constexpr unsigned kBits = 12;
  std::array<uint64_t, kRecallReach> values_{};
  std::array<uint16_t, 1 << kBits> places_{};
  uint64_t count_ = 0, begin_ = 0;
};

class RecallReader {
public:
  void restart() { values_.fill(0); }
  uint64_t ago(uint64_t mentions) const { return values_[(count_ - mentions) % kRecallReach]; }
  void mention(uint64_t value) { values_[count_++ % kRecallReach] = value; }

private:
  std::array<uint64_t, kRecallReach> values_{};
  uint64_t count_ = 0;
};

// By its number in the order of appearance: sites and handles, of which there are few and which come in patterns.
class ListWriter {
public:
  void restart() {
    begin_ += listed_;
    listed_ = 0;
  }
  uint64_t size() const { return listed_; }
  // The value's number in the list, from 1; 0 = it was appended and must be said in full.
  uint32_t find(uint64_t value) {
    Entry &entry = table_[tableSlot(value, kBits)];
    if (entry.value == value && entry.number > begin_)
      return static_cast<uint32_t>(entry.number - begin_);
    entry = {value, begin_ + ++listed_};
    return 0;
  }

private:
  static constexpr unsigned kBits = 11;
  struct Entry {
    uint64_t value, number;
  };
  std::array<Entry, 1 << kBits> table_{};
  uint64_t begin_ = 0, listed_ = 0; // numbers of earlier chunks are below begin_: nothing is cleared between chunks
};

} // namespace msleaks::analysis::trace
