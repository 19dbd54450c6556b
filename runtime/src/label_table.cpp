#include "label_table.h"

#include "definitions.h"
#include "ring.h"
#include "system.h"

#include <cstring>

namespace msleaks::runtime {
namespace {

// The table of labels, which is never unmapped. A fork's child inherits it.
constinit std::atomic<LabelTable *> table{nullptr};

// Returns the length to which a long text is cut. The cut is never inside a UTF-8 character.
uint32_t cutAt(const char *text) noexcept {
  uint32_t bytes = abi::kMaxLabelBytes;
  while (bytes > abi::kMaxLabelBytes - 4 && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80)
    --bytes;
  return bytes;
}

// Hashes eight bytes at a time, since this function runs for each event with a text.
uint64_t hashOf(std::string_view text) noexcept {
  constexpr uint64_t kFactor = 0x9e37'79b9'7f4a'7c15;
  uint64_t hash = text.size() * kFactor;
  for (size_t at = 0; at < text.size(); at += sizeof(uint64_t)) {
    uint64_t word = 0;
    const size_t left = text.size() - at;
    std::memcpy(&word, text.data() + at, left < sizeof word ? left : sizeof word);
    hash = (hash ^ word) * kFactor;
    hash ^= hash >> 32;
  }
  return hash;
}

constexpr uint64_t entryOf(uint64_t hash, uint32_t number) { return (hash & ~uint64_t{UINT32_MAX}) | number; }

} // namespace

LabelTable::Key::Key(const char *given) noexcept {
  const size_t bytes = ::strnlen(given, abi::kMaxLabelBytes + 1);
  cut = bytes > abi::kMaxLabelBytes;
  text = {given, cut ? cutAt(given) : bytes};
  hash = hashOf(text);
}

uint32_t LabelTable::find(const Key &key) const noexcept {
  for (auto slot = static_cast<uint32_t>(key.hash);; ++slot) {
    const uint64_t entry = slots_[slot % kSlots].load(std::memory_order_acquire);
    const auto number = static_cast<uint32_t>(entry);
    if (entry == 0 || (entry == entryOf(key.hash, number) && texts_[number] == key.text))
      return number;
  }
}

bool LabelTable::refuses(uint32_t &instead) noexcept {
  instead = full_.load(std::memory_order_relaxed) ? abi::kOtherLabel : 0;
  return instead != 0 || pause_.holds();
}

// Returns the address for a text at this position, or null if there is no memory. Allocates a chunk if necessary.
char *LabelTable::placeAt(uint32_t position) noexcept {
  char *&chunk = chunks_[position / kChunkBytes];
  if (chunk == nullptr)
    chunk = static_cast<char *>(mapAnonymous(kChunkBytes));
  return chunk != nullptr ? chunk + position % kChunkBytes : nullptr;
}

uint32_t LabelTable::refused() noexcept {
  pause_.begin();
  return 0;
}

uint32_t LabelTable::other(Arena &arena) noexcept {
  if (!full_.load(std::memory_order_relaxed)) {
    if (!defineLabel(arena, abi::kOtherLabel, "(other)"))
      return refused();
    full_.store(true, std::memory_order_relaxed);
    defineNote(arena, "too many different texts of marks, ranges and owners: the further texts are shown as (other)");
  }
  return abi::kOtherLabel;
}

void LabelTable::publish(uint32_t number, uint64_t hash) noexcept {
  auto slot = static_cast<uint32_t>(hash);
  while (slots_[slot % kSlots].load(std::memory_order_relaxed) != 0)
    ++slot;
  slots_[slot % kSlots].store(entryOf(hash, number), std::memory_order_release);
}

uint32_t LabelTable::add(Arena &arena, const Key &key) noexcept {
  if (const uint32_t known = find(key); known != 0)
    return known;
  const auto bytes = static_cast<uint32_t>(key.text.size());
  const bool fits = bytes_ % kChunkBytes + bytes <= kChunkBytes;
  const uint32_t begin = fits ? bytes_ : (bytes_ / kChunkBytes + 1) * kChunkBytes;
  if (count_ == abi::kMaxLabels || begin + bytes >= abi::kMaxLabelsBytes)
    return other(arena);
  char *kept = placeAt(begin);
  if (kept == nullptr || !defineLabel(arena, count_ + 1, key.text))
    return refused();
  if (key.cut && !noted_cut_)
    noted_cut_ = defineNote(arena, "the text of a mark, range or owner is longer than 4096 bytes: the rest is cut off");
  std::memcpy(kept, key.text.data(), bytes);
  bytes_ = begin + bytes;
  texts_[++count_] = {kept, bytes};
  publish(count_, key.hash);
  return count_;
}

namespace {

// Adds a text to the table, and returns its label. While the session waits for a collector (waitsForCollector), no new
// text is defined, and the label is 0.
[[gnu::noinline, gnu::cold]] uint64_t define(const LabelTable::Key &key) noexcept {
  if (LabelTable *known = table.load(std::memory_order_acquire); known != nullptr) {
    uint32_t instead = 0;
    if (known->refuses(instead))
      return instead;
  }
  if (waitsForCollector())
    return 0;
  const ArenaHeld held;
  Arena *arena = held.arena();
  if (arena == nullptr)
    return 0;
  if (table.load(std::memory_order_relaxed) == nullptr)
    table.store(static_cast<LabelTable *>(mapAnonymous(sizeof(LabelTable))), std::memory_order_release);
  LabelTable *labels = table.load(std::memory_order_relaxed);
  return labels != nullptr ? labels->add(*arena, key) : 0;
}

} // namespace

uint64_t labelOf(const char *text) noexcept {
  if (text == nullptr)
    return 0;
  const LabelTable::Key key(text);
  const LabelTable *labels = table.load(std::memory_order_acquire);
  if (const uint32_t known = labels != nullptr ? labels->find(key) : 0; known != 0) [[likely]]
    return known;
  return define(key);
}

std::string_view textOf(uint64_t label) noexcept {
  const LabelTable *labels = table.load(std::memory_order_acquire);
  return labels != nullptr && label <= abi::kMaxLabels ? labels->textOf(static_cast<uint32_t>(label)) : "";
}

} // namespace msleaks::runtime
