#include "recent_paths.h"

#include "thread_path.h"

#include <atomic>

namespace msleaks::runtime {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr uint64_t kFactor = 0x9e37'79b9'7f4a'7c15;
constexpr uint64_t kWord = sizeof(uint64_t);

constexpr uint64_t mixed(uint64_t hash, uint64_t word) {
  const Wide product = Wide{hash ^ word} * kFactor;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// Returns the digest of words. Each product contains two words. The processor multiplies several pairs at the same
// time, since no product needs the one before.
template <class WordAt> uint64_t digestOf(uint64_t salt, uint32_t count, WordAt word) noexcept {
  Wide sum = count % 2 != 0 ? word(count - 1) : 0;
  uint64_t key = salt;
  for (uint32_t i = 0; i + 1 < count; i += 2, key += 2 * kFactor)
    sum += Wide{word(i) + key} * (word(i + 1) + (key ^ kFactor));
  return mixed(mixed(salt, static_cast<uint64_t>(sum)), static_cast<uint64_t>(sum >> 64));
}

} // namespace

uint64_t RecentPaths::keyOf(uint64_t address, uint64_t stack_pointer) noexcept {
  return mixed(address, stack_pointer * kFactor);
}

// Lets the processor load the lines of its cache that find() is about to read from most shapes, all at the same time.
const RecentPaths::Shape &RecentPaths::loaded(const Shape &shape) noexcept {
  constexpr size_t kLine = 64, kLines = 4;
  for (size_t i = 0; i < kLines; ++i)
    __builtin_prefetch(reinterpret_cast<const char *>(&shape) + i * kLine);
  return shape;
}

const RecentPaths::Shape *RecentPaths::shapeOf(const unwind::Frame &innermost) const noexcept {
  const uint64_t key = keyOf(innermost.address, innermost.stack_pointer);
  const uint32_t set = key % kShapeSets;
  for (uint32_t i = 0; i < kShapesOfSet; ++i)
    if (keys_[set][i] == key)
      if (const Shape &shape = loaded(shapes_[set][i]);
          shape.round == round_ && shape.isOf(innermost.address, innermost.stack_pointer) &&
          (!shape.frame_matters || shape.frame_pointer == innermost.frame_pointer))
        return &shape;
  return nullptr;
}

uint32_t RecentPaths::find(const unwind::Stack &stack, const unwind::Frame &innermost) const noexcept {
  const uint64_t from = innermost.stack_pointer;
  const Shape *shape = shapeOf(innermost);
  if (shape == nullptr || !stack.holds(from) || !stack.holds(from + kWord * shape->highest))
    return 0;
  const uint64_t digest =
      digestOf(shape->salt, shape->count, [&](uint32_t i) { return unwind::wordAt(from + kWord * shape->offsets[i]); });
  const Paths &paths = paths_[digest % kPathSets];
  for (uint32_t i = 0; i < kPathsOfSet; ++i)
    if (paths.digests[i] == digest)
      return paths.nodes[i];
  return 0;
}

// The salt depends on the round and on the shape. So a digest from another round or of another shape is not found.
uint64_t RecentPaths::saltOf(const PathFrame &innermost, const StackCheck *checks, uint32_t count) const noexcept {
  uint64_t salt = mixed(mixed(round_, innermost.address), innermost.stack_pointer);
  if (innermost.frame_matters)
    salt = mixed(salt, innermost.frame_pointer);
  return digestOf(salt + count, count, [&](uint32_t i) { return checks[i].at; });
}

// Returns the place of the shape for this innermost call. If it has none, another shape of the set is given up.
RecentPaths::Shape &RecentPaths::placeFor(const PathFrame &innermost) noexcept {
  const uint64_t key = keyOf(innermost.address, innermost.stack_pointer);
  uint64_t *keys = keys_[key % kShapeSets];
  uint32_t place = 0;
  while (place < kShapesOfSet && keys[place] != key)
    ++place;
  if (place == kShapesOfSet)
    place = replaced_++ % kShapesOfSet;
  keys[place] = key;
  return shapes_[key % kShapeSets][place];
}

// Returns false if a word is too far from the stack pointer.
bool RecentPaths::fill(Shape &shape, uint64_t salt, const PathFrame &innermost, const StackCheck *checks,
                       uint32_t count) const noexcept {
  shape.round = 0; // if a signal handler now ends this function by a longjmp, no half-changed shape remains
  std::atomic_signal_fence(std::memory_order_seq_cst);
  uint64_t highest = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t distance = checks[i].at - innermost.stack_pointer;
    if (distance % kWord != 0 || distance / kWord > UINT16_MAX)
      return false;
    shape.offsets[i] = static_cast<uint16_t>(distance / kWord);
    highest = distance > highest ? distance : highest;
  }
  shape.address = innermost.address;
  shape.stack_pointer = innermost.stack_pointer;
  shape.frame_pointer = innermost.frame_pointer;
  shape.count = static_cast<uint16_t>(count);
  shape.highest = static_cast<uint16_t>(highest / kWord);
  shape.frame_matters = innermost.frame_matters;
  shape.salt = salt;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  shape.round = round_;
  return true;
}

void RecentPaths::keep(const PathFrame &innermost, const StackCheck *checks, uint32_t count, uint32_t node) noexcept {
  if (count == 0 || count > kMostWords)
    return;
  const uint64_t salt = saltOf(innermost, checks, count);
  Shape &shape = placeFor(innermost);
  if ((shape.round != round_ || shape.salt != salt) && !fill(shape, salt, innermost, checks, count))
    return;
  storePath(digestOf(salt, count, [&](uint32_t i) { return checks[i].word; }), node);
}

void RecentPaths::storePath(uint64_t digest, uint32_t node) noexcept {
  Paths &paths = paths_[digest % kPathSets];
  uint32_t place = 0;
  while (place < kPathsOfSet && paths.digests[place] != digest)
    ++place;
  if (place == kPathsOfSet)
    place = paths.stored++ % kPathsOfSet;
  paths.nodes[place] = 0; // as in fill()
  std::atomic_signal_fence(std::memory_order_seq_cst);
  paths.digests[place] = digest;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  paths.nodes[place] = node;
}

} // namespace msleaks::runtime
