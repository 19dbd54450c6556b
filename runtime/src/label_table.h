// Stores the texts that labels in this process' events refer to (abi::StringDefinition). The table copies and defines
// each text once, and never removes it. Any thread, also in a signal handler, can look up a known text without a lock.
//
// A fork's child inherits the texts and their numbers. The process may fork at any moment: in the child too, each text
// in the table is defined, and no number belongs to two texts.
#pragma once

#include "arena.h"
#include "pause.h"

#include "msleaks/abi/definitions.h"

#include <atomic>
#include <string_view>

namespace msleaks::runtime {

class LabelTable {
public:
  // A text, cut to the size that the table stores, with its hash.
  struct Key {
    explicit Key(const char *text) noexcept;
    std::string_view text; // the bytes that are stored
    bool cut;              // whether the text was longer
    uint64_t hash;
  };

  // Returns the number of a text, or 0 if the text has no number.
  uint32_t find(const Key &key) const noexcept;

  // Returns the text of a number that find() or add() has returned.
  std::string_view textOf(uint32_t number) const noexcept { return texts_[number]; }

  // Whether the table accepts no new text, either forever or for a while. If so, `instead` is set to the label to use:
  // kOtherLabel or 0. During a pause (pause.h), each call counts one event.
  bool refuses(uint32_t &instead) noexcept;

  // Gives the text a number, defines the text and returns the number. If the definition is refused, begins a pause and
  // returns 0. If the table is full, returns kOtherLabel. Call with signals blocked and Process::lock held.
  uint32_t add(Arena &arena, const Key &key) noexcept;

private:
  static constexpr uint32_t kSlots = 2 * abi::kMaxLabels; // at least half of the slots stay empty
  static constexpr uint32_t kChunkBytes = 64 << 10;

  // Each slot contains the upper half of a text's hash and the text's number; 0 = empty. The text is stored before the
  // slot.
  std::atomic<uint64_t> slots_[kSlots];
  std::string_view texts_[abi::kMaxLabels + 1]; // the texts, by their numbers
  uint32_t count_;
  uint32_t bytes_; // end of the last text; no text crosses the end of a chunk
  char *chunks_[abi::kMaxLabelsBytes / kChunkBytes];
  std::atomic<bool> full_;
  bool noted_cut_;
  Pause pause_;

  char *placeAt(uint32_t position) noexcept;
  uint32_t other(Arena &arena) noexcept;
  uint32_t refused() noexcept;
  void publish(uint32_t number, uint64_t hash) noexcept;
};

// Returns the label of a text. A new text is added to the table. If the text is null or cannot be defined, returns 0.
// Call this in an attached process.
uint64_t labelOf(const char *text) noexcept;
// Returns the text of a label that labelOf returned. For 0 and kOtherLabel the result is empty.
std::string_view textOf(uint64_t label) noexcept;

} // namespace msleaks::runtime
