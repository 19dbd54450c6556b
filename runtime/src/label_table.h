// The texts that this process' events name (abi::StringDefinition): each is copied and defined once. Any thread, also
// in a signal handler, finds a known one without a lock; nothing is ever taken out.
//
// A fork's child has its parent's texts by the same numbers, as it has its sites. Every text in the table is defined,
// and no number is given out twice, between whatever two steps the fork came.
#pragma once

#include "arena.h"
#include "pause.h"

#include "msleaks/abi/definitions.h"

#include <atomic>
#include <string_view>

namespace msleaks::runtime {

class LabelTable {
public:
  // A text as it is kept, and what it is found by.
  struct Key {
    explicit Key(const char *text) noexcept;
    std::string_view text; // what is kept of it
    bool cut;              // there is more
    uint64_t hash;
  };

  // The number of a text; 0 = it has none.
  uint32_t find(const Key &key) const noexcept;

  // Of a number that find() or add() gave to this thread, or to one that handed it on.
  std::string_view textOf(uint32_t number) const noexcept { return texts_[number]; }

  // No new text is taken any more, or none for now: what to call one, kOtherLabel or 0. Counts as an event that goes
  // by.
  bool refuses(uint32_t &instead) noexcept;

  // Gives the text a number and defines it; 0 = the definition was refused, and is counted there. With signals blocked
  // and Process::lock held.
  uint32_t add(Arena &arena, const Key &key) noexcept;

private:
  static constexpr uint32_t kSlots = 2 * abi::kMaxLabels; // half of them stay empty
  static constexpr uint32_t kChunkBytes = 64 << 10;

  // High half of the hash, number; 0 = empty. Stored last.
  std::atomic<uint64_t> slots_[kSlots];
  std::string_view texts_[abi::kMaxLabels + 1]; // by number
  uint32_t count_;
  uint32_t bytes_; // of the texts, one behind the other; none reaches from one chunk into the next
  char *chunks_[abi::kMaxLabelsBytes / kChunkBytes];
  std::atomic<bool> full_;
  bool noted_cut_;
  Pause pause_;

  char *placeAt(uint32_t position) noexcept;
  uint32_t other(Arena &arena) noexcept;
  uint32_t refused() noexcept;
  void publish(uint32_t number, uint64_t hash) noexcept;
};

// The number of a text in this process, which has been attached; 0 = it has none.
uint64_t labelOf(const char *text) noexcept;
// The text of a number of labelOf; empty: it has none, or it is one of many others.
std::string_view textOf(uint64_t label) noexcept;

} // namespace msleaks::runtime
