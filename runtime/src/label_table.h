// The texts that this process' events name (abi::StringDefinition): each is copied and defined once. Any thread, also
// in a signal handler, finds a known text without a lock. Texts are never removed.
//
// A fork's child has its parent's texts by the same numbers. At any moment of a fork, every text in the table is
// defined, and no number is given out twice.
#pragma once

#include "arena.h"
#include "pause.h"

#include "msleaks/abi/definitions.h"

#include <atomic>
#include <string_view>

namespace msleaks::runtime {

class LabelTable {
public:
  // A text as it is kept, with its hash.
  struct Key {
    explicit Key(const char *text) noexcept;
    std::string_view text; // the kept bytes
    bool cut;              // the text was cut
    uint64_t hash;
  };

  // The number of a text; 0 = it has none.
  uint32_t find(const Key &key) const noexcept;

  // Returns the text of a number. This thread got the number from find() or add(), or from another thread.
  std::string_view textOf(uint32_t number) const noexcept { return texts_[number]; }

  // Whether the table takes no new text, for ever or for now. Then `instead` is the label to use: kOtherLabel or 0.
  // Counts as an event that goes by.
  bool refuses(uint32_t &instead) noexcept;

  // Gives the text a number and defines it; 0 = the definition was refused and counted. Call with signals blocked and
  // Process::lock held.
  uint32_t add(Arena &arena, const Key &key) noexcept;

private:
  static constexpr uint32_t kSlots = 2 * abi::kMaxLabels; // half of them stay empty
  static constexpr uint32_t kChunkBytes = 64 << 10;

  // The high half of the hash, and the number; 0 = empty. Stored last.
  std::atomic<uint64_t> slots_[kSlots];
  std::string_view texts_[abi::kMaxLabels + 1]; // by number
  uint32_t count_;
  uint32_t bytes_; // the texts in a row; no text crosses a chunk's end
  char *chunks_[abi::kMaxLabelsBytes / kChunkBytes];
  std::atomic<bool> full_;
  bool noted_cut_;
  Pause pause_;

  char *placeAt(uint32_t position) noexcept;
  uint32_t other(Arena &arena) noexcept;
  uint32_t refused() noexcept;
  void publish(uint32_t number, uint64_t hash) noexcept;
};

// Returns the number of a text in this attached process; 0 = it has none.
uint64_t labelOf(const char *text) noexcept;
// Returns the text of a number of labelOf; empty: there is no such text, or it is kOtherLabel.
std::string_view textOf(uint64_t label) noexcept;

} // namespace msleaks::runtime
