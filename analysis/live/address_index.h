// Finds the last address at or before another one, among the addresses of live blocks. An interior pointer needs this.
//
// It is a trie whose nodes are words of 64 bits. A word of level 0 tells which of 64 addresses begin a block. A word of
// level 1 tells which of 64 words of level 0 are not empty, and so on. Empty words do not exist. Since blocks are close
// together, most changes touch two levels, and a search goes up one or two levels, then down.
#pragma once

#include "analysis/live/address_table.h"

#include <array>
#include <bit>
#include <cstdint>
#include <optional>

namespace msleaks::analysis::inline live {

class AddressIndex {
public:
  void insert(uint64_t address) {
    for (unsigned level = 0; level < kLevels; ++level, address >>= kBits) {
      if (Word *word = words_[level].find(keyOf(address))) {
        word->bits |= bitOf(address);
        return;
      }
      words_[level].insert({keyOf(address), bitOf(address)});
    }
  }
  void erase(uint64_t address) {
    for (unsigned level = 0; level < kLevels; ++level, address >>= kBits) {
      Word *word = words_[level].find(keyOf(address));
      if (word == nullptr || (word->bits &= ~bitOf(address)) != 0)
        return;
      words_[level].erase(word);
    }
  }
  // Returns the largest address that is not above `address`.
  std::optional<uint64_t> lastUntil(uint64_t address) const {
    for (unsigned level = 0; level < kLevels; ++level) {
      // Level 0 may return the address itself. On higher levels, only words of smaller addresses count.
      const uint64_t earlier = level == 0 ? bitOf(address) | (bitOf(address) - 1) : bitOf(address) - 1;
      if (const uint64_t word = wordOf(level, address) & earlier; word != 0)
        return lastBelow(level, (address >> kBits) << kBits | lastBitOf(word));
      address >>= kBits;
    }
    return std::nullopt;
  }

private:
  static constexpr unsigned kBits = 6, kLevels = (64 + kBits - 1) / kBits;

  struct Word {
    uint64_t address = 0; // the word's number, from 1
    uint64_t bits = 0;    // never 0
  };
  // The key of the word that contains this place of its level.
  static uint64_t keyOf(uint64_t place) { return (place >> kBits) + 1; }
  static uint64_t bitOf(uint64_t place) { return uint64_t{1} << (place & 63); }
  static unsigned lastBitOf(uint64_t word) { return 63 - static_cast<unsigned>(std::countl_zero(word)); }
  uint64_t wordOf(unsigned level, uint64_t place) const {
    const Word *word = words_[level].find(keyOf(place));
    return word ? word->bits : 0;
  }
  uint64_t lastBelow(unsigned level, uint64_t place) const {
    for (; level > 0; --level)
      place = place << kBits | lastBitOf(wordOf(level - 1, place << kBits));
    return place;
  }

  std::array<AddressTable<Word>, kLevels> words_;
};

} // namespace msleaks::analysis::inline live
