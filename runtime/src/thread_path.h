// The path that a thread took last, first call first. Most of it is still on the stack when the next one is taken: a
// frame whose words on the stack are the same has the same caller.
#pragma once

#include "path_tree.h"
#include "unwind/walk.h"

namespace msleaks::runtime {

struct PathFrame {
  uint64_t address, stack_pointer, frame_pointer;
  uint64_t address_at; // where the address was read: 0 = not on the stack, or the place alone does not tell it
  uint64_t frame_at;   // the same of the frame pointer; 0 = it is that of the call inside, or does not matter
  uint32_t node;       // of the path from the first call of the thread to this one
  uint32_t checks;     // what tells that the calls around it are the same: so many of ThreadPath::checks()
  // In code without frame pointers the register holds any number. It matters where a call further out was found by it.
  bool frame_matters;
  bool used_inner_frame; // the walk found the call by the frame pointer of the call inside
};

// A word of the stack that an unchanged path has left unchanged.
struct StackCheck {
  uint64_t at, word;
};

// Memory of its own, since a handler may have a stack of a page: this, twice `capacity` frames, and as many checks.
struct ThreadPath {
  uint64_t generation; // of the process that has the nodes (Thread::generation)
  uint64_t epoch;      // of the rules; frames of another one are not believed
  unwind::Stack stack;
  uint32_t capacity;
  uint32_t count;   // of frames that are known
  bool cut;         // the thread has more calls than `capacity`
  uint32_t version; // of the frames
  bool busy;        // a path is being taken with it

  static uint64_t bytesFor(uint32_t capacity) noexcept {
    return sizeof(ThreadPath) + 2 * uint64_t{capacity} * (sizeof(PathFrame) + sizeof(StackCheck));
  }
  PathFrame *frames() noexcept { return reinterpret_cast<PathFrame *>(this + 1); }
  const PathFrame *frames() const noexcept { return reinterpret_cast<const PathFrame *>(this + 1); }
  PathFrame *walked() noexcept { return frames() + capacity; } // by the walk under way
  StackCheck *checks() noexcept { return reinterpret_cast<StackCheck *>(frames() + 2 * capacity); }
  const StackCheck *checks() const noexcept { return reinterpret_cast<const StackCheck *>(frames() + 2 * capacity); }
};

[[gnu::always_inline]] inline bool isSame(const PathFrame &known, const unwind::Frame &frame) noexcept {
  return known.stack_pointer == frame.stack_pointer && known.address == frame.address &&
         (!known.frame_matters || known.frame_pointer == frame.frame_pointer);
}

// The first so many checks: all calls around one of the kept frames (PathFrame::checks) are as they were.
[[gnu::always_inline]] inline bool areUnchanged(const ThreadPath &path, uint32_t checks) noexcept {
  uint64_t changed = 0;
  for (const StackCheck *check = path.checks(), *end = check + checks; check != end; ++check)
    changed |= unwind::wordAt(check->at) ^ check->word;
  return changed == 0;
}

// The node of the path to `frame`, the innermost call, if it is the last path once more; 0 = it is not. Writes nothing:
// a handler in between may take a path, which is noticed.
[[gnu::always_inline]] inline uint32_t samePath(const ThreadPath &path, const unwind::Frame &frame) noexcept {
  const uint32_t version = path.version, count = path.count;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const PathFrame *innermost = path.frames() + count - 1;
  if (count == 0 || !path.stack.holds(frame.stack_pointer - sizeof(uint64_t)) || !isSame(*innermost, frame))
    return 0;
  const uint32_t checks = innermost->checks, node = innermost->node;
  if (!areUnchanged(path, checks))
    return 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return path.version == version ? node : 0;
}

// The node of the path to `frame`, the innermost call; 0 = it cannot be numbered.
uint32_t takePath(ThreadPath &path, PathTree &tree, const unwind::Frame &frame) noexcept;

// Goes from `frame` to the call with this return address; false: it is none of the next few.
bool findCall(ThreadPath &path, uint64_t return_address, unwind::Frame &frame) noexcept;

// Nothing more comes from this thread.
void endPaths(Thread &thread) noexcept;

} // namespace msleaks::runtime
