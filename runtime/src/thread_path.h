// Stores the last call path of a thread, outermost call first. Most calls of this path are still on the stack when the
// next path is computed. If a frame's words on the stack are unchanged, its caller is unchanged, so the walk can end
// there.
#pragma once

#include "path_tree.h"
#include "python/python_path.h"
#include "recent_paths.h"
#include "unwind/walk.h"

namespace msleaks::runtime {

struct PathFrame {
  uint64_t address, stack_pointer, frame_pointer;
  uint64_t address_at; // where `address` was read; 0 = no single word of the stack determines it
  uint64_t frame_at;   // where `frame_pointer` was read; 0 = it equals the inner call's frame pointer, or is not used
  uint32_t node;       // node of the path from the thread's first call to this call
  uint32_t checks;     // the first `checks` entries of ThreadPath::checks() cover the outer calls
  // Whether `frame_pointer` must be equal, too. It must if the walk has found an outer call by this value. In code
  // without frame pointers the register may contain any value.
  bool frame_matters;
  bool used_inner_frame; // the walk found the call by the frame pointer of the inner call
};

// An address on the stack, and the word there as long as the path is the same.
struct StackCheck {
  uint64_t at, word;
};

// The last path of a thread. In memory, 2 × `capacity` frames and as many checks follow this struct. It is not on the
// stack, since a handler's stack may be as small as one page.
struct ThreadPath {
  uint64_t generation; // generation of the process that the nodes belong to (Thread::generation)
  uint64_t epoch;      // epoch of the unwind rules; frames of another epoch are not used
  unwind::Stack stack;
  uint32_t capacity;
  uint32_t count;   // number of stored frames
  bool cut;         // the thread has more calls than `capacity`
  uint32_t version; // changes whenever the frames change
  bool busy;        // a walk uses this struct now
  bool in_handler;  // the last walk has left a signal handler
  // The site in instrumented code that was added to the last path, and the node of the result. 0 = no site; no node.
  uint32_t site, node;
  uint32_t walks;            // number of stored paths, until `recent` exists
  uint32_t recent_node;      // node of the last path that came from `recent`
  RecentPaths *recent;       // null until the thread has taken many paths
  python::LastCalls *python; // null until a path contains calls of Python code

  static uint64_t bytesFor(uint32_t capacity) noexcept {
    return sizeof(ThreadPath) + 2 * uint64_t{capacity} * (sizeof(PathFrame) + sizeof(StackCheck));
  }
  PathFrame *frames() noexcept { return reinterpret_cast<PathFrame *>(this + 1); }
  const PathFrame *frames() const noexcept { return reinterpret_cast<const PathFrame *>(this + 1); }
  PathFrame *walked() noexcept { return frames() + capacity; } // the frames of the current walk
  StackCheck *checks() noexcept { return reinterpret_cast<StackCheck *>(frames() + size_t{2} * capacity); }
  const StackCheck *checks() const noexcept {
    return reinterpret_cast<const StackCheck *>(frames() + size_t{2} * capacity);
  }
};

[[gnu::always_inline]] inline bool isSame(const PathFrame &known, const unwind::Frame &frame) noexcept {
  return known.stack_pointer == frame.stack_pointer && known.address == frame.address &&
         (!known.frame_matters || known.frame_pointer == frame.frame_pointer);
}

// Whether the words of the first `checks` checks are unchanged. If `checks` is a frame's PathFrame::checks, this means
// that all calls around the frame are unchanged.
[[gnu::always_inline]] inline bool areUnchanged(const ThreadPath &path, uint32_t checks) noexcept {
  uint64_t changed = 0;
  for (const StackCheck *check = path.checks(), *end = check + checks; check != end; ++check)
    changed |= unwind::wordAt(check->at) ^ check->word;
  return changed == 0;
}

// Whether `frame` is the innermost call of the last path, which has `count` frames.
[[gnu::always_inline]] inline bool isInnermost(const ThreadPath &path, uint32_t count,
                                               const unwind::Frame &frame) noexcept {
  return count != 0 && path.stack.holds(frame.stack_pointer - sizeof(uint64_t)) &&
         isSame(*(path.frames() + count - 1), frame);
}

// If the path to `frame`, the innermost call, equals the last path, returns its node, else 0. If `site` is not 0,
// returns the node of the path that ends at this site. The function writes nothing. If a signal handler changes the
// last path during the call, `version` changes, and the result is 0.
[[gnu::always_inline]] inline uint32_t samePath(const ThreadPath &path, const unwind::Frame &frame,
                                                uint32_t site) noexcept {
  const uint32_t version = path.version, count = path.count;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (!isInnermost(path, count, frame))
    return 0;
  const uint32_t checks = (path.frames() + count - 1)->checks, node = path.node;
  if (site != path.site || node == 0 || !areUnchanged(path, checks))
    return 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return path.version == version ? node : 0;
}

// Walks the stack from `frame`, the innermost call. Returns the node of the path, or 0 if the path cannot get a number.
uint32_t takePath(ThreadPath &path, PathTree &tree, const unwind::Frame &frame) noexcept;

// If the path to `frame`, the innermost call, equals the last path, returns its node, without calls of Python code. If
// not, returns 0.
uint32_t lastPath(const ThreadPath &path, const unwind::Frame &frame) noexcept;

// Returns the node of the path to `frame`, the innermost call, without a walk. The last path stays as it is. Returns 0
// if a walk is necessary.
uint32_t recentPath(ThreadPath &path, const unwind::Frame &frame) noexcept;

// Walks outwards from `frame` to the call with this return address. Returns false if it is not among the next four
// calls.
bool findCall(ThreadPath &path, uint64_t return_address, unwind::Frame &frame) noexcept;

// Frees the thread's memory for paths, when the thread ends.
void endPaths(Thread &thread) noexcept;

} // namespace msleaks::runtime
