// The path that a thread took last, first call first. Most of it is still on the stack when the next path is taken. A
// frame whose words on the stack are unchanged has the same caller.
#pragma once

#include "path_tree.h"
#include "unwind/walk.h"

namespace msleaks::runtime {

struct PathFrame {
  uint64_t address, stack_pointer, frame_pointer;
  uint64_t address_at; // where the address was read: 0 = not on the stack, or not enough
  uint64_t frame_at;   // the same for the frame pointer; 0 = that of the inner call, or unused
  uint32_t node;       // of the path from the first call of the thread to this one
  uint32_t checks;     // number of ThreadPath::checks() that show unchanged outer calls
  // In code without frame pointers the register holds any number. It matters if an outer call was found by it.
  bool frame_matters;
  bool used_inner_frame; // the walk found the call by the frame pointer of the call inside
};

// A word of the stack that an unchanged path has left unchanged.
struct StackCheck {
  uint64_t at, word;
};

// It has memory of its own, since a handler's stack may be one page: this, 2 × `capacity` frames, and as many checks.
struct ThreadPath {
  uint64_t generation; // of the process that has the nodes (Thread::generation)
  uint64_t epoch;      // epoch of the rules; frames of another epoch are not used
  unwind::Stack stack;
  uint32_t capacity;
  uint32_t count;   // of frames that are known
  bool cut;         // the thread has more calls than `capacity`
  uint32_t version; // of the frames
  bool busy;        // a path is being taken with it
  // The innermost call was made at this place in instrumented code, and the node of the path that ends there; 0 = none.
  uint32_t site, site_node;

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

// Whether the first `checks` checks hold: then all calls around a kept frame (PathFrame::checks) are unchanged.
[[gnu::always_inline]] inline bool areUnchanged(const ThreadPath &path, uint32_t checks) noexcept {
  uint64_t changed = 0;
  for (const StackCheck *check = path.checks(), *end = check + checks; check != end; ++check)
    changed |= unwind::wordAt(check->at) ^ check->word;
  return changed == 0;
}

// Returns the node of the path to `frame`, the innermost call, if it is the same as the last path; 0 = it is not. With
// a site (not 0) it is the node of the path that ends at that site. Writes nothing. A handler in between may take a
// path, which is noticed.
[[gnu::always_inline]] inline uint32_t samePath(const ThreadPath &path, const unwind::Frame &frame,
                                                uint32_t site) noexcept {
  const uint32_t version = path.version, count = path.count;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const PathFrame *innermost = path.frames() + count - 1;
  if (count == 0 || !path.stack.holds(frame.stack_pointer - sizeof(uint64_t)) || !isSame(*innermost, frame))
    return 0;
  const uint32_t checks = innermost->checks;
  const uint32_t node = site == 0 ? innermost->node : site == path.site ? path.site_node : 0;
  if (node == 0 || !areUnchanged(path, checks))
    return 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return path.version == version ? node : 0;
}

// Returns the node of the path to `frame`, the innermost call; 0 = it cannot be numbered.
uint32_t takePath(ThreadPath &path, PathTree &tree, const unwind::Frame &frame) noexcept;

// Goes from `frame` to the call with this return address; false: none of the next few calls has it.
bool findCall(ThreadPath &path, uint64_t return_address, unwind::Frame &frame) noexcept;

// Ends the thread's use of paths.
void endPaths(Thread &thread) noexcept;

} // namespace msleaks::runtime
