#include "calls.h"

#include "objects.h"
#include "text.h"

#include <bit>
#include <pthread.h>

namespace msleaks::runtime::python {

constinit Python python{};

namespace {

// Whether the state was made for this thread. Before 3.12, Python still returns a state that this thread has made,
// after another thread has used and freed it. The freed memory then no longer contains the number of this thread, or
// contains no frame.
bool isOfThisThread(uint64_t thread) noexcept {
  const uint16_t offset = python.layout.thread_id;
  return offset == 0 || valueAt<uint64_t>(thread, offset) == static_cast<uint64_t>(::pthread_self());
}

} // namespace

uint64_t innermostFrame() noexcept {
  if (functionAt<int()>(python.symbols.is_finalizing)() != 0)
    return 0;
  const auto thread = reinterpret_cast<uint64_t>(functionAt<void *()>(python.symbols.thread_state)());
  if (thread == 0 || !isOfThisThread(thread))
    return 0;
  const auto frame = valueAt<uint64_t>(thread, python.layout.thread_frame);
  return python.layout.has_c_frame && frame != 0 ? valueAt<uint64_t>(frame, python.layout.c_frame) : frame;
}

namespace {

bool isForeign(uint64_t frame) noexcept {
  const Layout &layout = python.layout;
  return layout.first_foreign_owner != 0 && valueAt<uint8_t>(frame, layout.owner) >= layout.first_foreign_owner;
}

// From 3.14 on, the lowest bits of the pointer to the code object are a tag.
uint64_t codeObjectOf(uint64_t frame) noexcept { return valueAt<uint64_t>(frame, python.layout.code) & ~uint64_t{7}; }

// Returns the address of the bytecode that the frame runs. The array begins with the number of its copies.
uint64_t bytecodeOf(uint64_t frame, uint64_t code) noexcept {
  const Layout &layout = python.layout;
  if (layout.copies == 0)
    return code + layout.bytecode;
  const auto copies = valueAt<uint64_t>(code, layout.copies);
  const auto number = static_cast<uint64_t>(int64_t{valueAt<int32_t>(frame, layout.copy_number)});
  return number < valueAt<uint64_t>(copies, 0) ? valueAt<uint64_t>(copies, 8 * (number + 1)) : code + layout.bytecode;
}

uint64_t instructionOf(uint64_t frame, uint64_t code) noexcept {
  const Layout &layout = python.layout;
  if (layout.minor >= 11)
    return valueAt<uint64_t>(frame, layout.instruction) - bytecodeOf(frame, code);
  const auto index = static_cast<uint64_t>(int64_t{valueAt<int32_t>(frame, layout.instruction)});
  return layout.minor == 10 ? 2 * index : index;
}

} // namespace

bool isCode(uint64_t code) noexcept {
  return code != 0 && valueAt<uint64_t>(code, python.layout.type) == python.symbols.code_type;
}

namespace {

constexpr uint64_t kHashedBytes = 32;

// Returns a hash of the size, and of the first and the last bytes. Each word has its own factor, so that the processor
// multiplies several words at the same time.
uint64_t hashOf(uint64_t hash, uint64_t bytes, uint64_t size) noexcept {
  constexpr uint64_t kFactor = 0x9e37'79b9'7f4a'7c15;
  uint64_t factor = kFactor;
  const auto add = [&](uint64_t word) { hash += word * (factor += 2 * kFactor); };
  const uint64_t most = size < kHashedBytes ? size : kHashedBytes;
  add(size);
  for (uint64_t at = 0; at + 8 <= most; at += 8) {
    add(valueAt<uint64_t>(bytes, at));
    add(valueAt<uint64_t>(bytes, size - 8 - at));
  }
  for (uint64_t at = most & ~uint64_t{7}; at < most; ++at)
    add(valueAt<uint8_t>(bytes, at));
  return (hash ^ hash >> 32) * kFactor;
}

} // namespace

uint64_t contentOf(const Call &call) noexcept {
  const Layout &layout = python.layout;
  uint64_t hash = valueAt<uint32_t>(call.code, layout.first_line);
  for (const uint16_t offset : {layout.file, layout.name}) {
    const Characters text = charactersOf(layout, valueAt<uint64_t>(call.code, offset));
    hash = hashOf(hash, text.at, text.count * text.bytes_each);
  }
  const uint64_t lines = linesOf(call.code);
  return hashOf(hash, lines + layout.bytes_data, valueAt<uint64_t>(lines, layout.bytes_size)) | 1;
}

uint64_t instanceOf(const Call &call) noexcept {
  const uint64_t self = selfOf(call);
  return ((self ^ std::rotl(versionOf(self), 32)) * 0x9e37'79b9'7f4a'7c15 & ~uint64_t{1}) | 2;
}

namespace {

uint64_t partsOf(uint64_t code) noexcept {
  const Layout &layout = python.layout;
  const auto file = valueAt<uint64_t>(code, layout.file), name = valueAt<uint64_t>(code, layout.name);
  return linesOf(code) ^ std::rotl(file, 21) ^ std::rotl(name, 42);
}

} // namespace

CallsRead readCalls(uint64_t innermost, Call *calls, const Call *known, uint32_t known_count,
                    uint32_t inside) noexcept {
  bool are_same = true;
  uint32_t count = 0;
  for (uint64_t frame = innermost; frame != 0 && count < kMaxCalls;
       frame = valueAt<uint64_t>(frame, python.layout.previous)) {
    if (isForeign(frame))
      continue;
    const uint64_t code = codeObjectOf(frame);
    if (code == 0)
      break;
    Call &call = calls[count];
    call = {code, partsOf(code), instructionOf(frame, code), 0, frame};
    if (are_same && count < known_count)
      are_same = count != 0 && count < inside ? isAtSame(known[count], call) : isSame(known[count], call);
    ++count;
  }
  return {count, are_same && count == known_count};
}

} // namespace msleaks::runtime::python
