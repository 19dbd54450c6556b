// Stores paths that a thread has taken recently. A loop takes the same paths again and again, at the same stack
// pointers. If all words of the stack that determined a path are unchanged, the path is the same, and it needs no walk.
//
// Instead of the words, a *digest* of 64 bits is stored. Two different paths have the same digest with a probability of
// about 2^-64. Many different paths have the same innermost call, and have their words at the same places. They share
// the list of these places, the *shape*.
#pragma once

#include "unwind/walk.h"

namespace msleaks::runtime {

struct PathFrame;
struct StackCheck;

class RecentPaths {
public:
  static constexpr uint32_t kMostWords = 232; // a path with more words is not stored

  // Returns the node of the path to this innermost call, or 0 if the path is not stored. Reads only words that are in
  // the known part of the stack.
  uint32_t find(const unwind::Stack &stack, const unwind::Frame &innermost) const noexcept;

  // Stores the path to this innermost call. `checks` contains the words that determine the calls around it.
  void keep(const PathFrame &innermost, const StackCheck *checks, uint32_t count, uint32_t node) noexcept;

  // Forgets all paths. Memory that is all zeros becomes an empty store by the first call.
  void forget() noexcept { ++round_; }

private:
  struct alignas(64) Shape {
    bool isOf(uint64_t its_address, uint64_t its_stack_pointer) const noexcept {
      return address == its_address && stack_pointer == its_stack_pointer;
    }
    uint64_t address, stack_pointer, frame_pointer; // the innermost call's
    uint64_t salt;                                  // the digests of this shape begin with it
    uint32_t round;                                 // the shape is valid only in this round. It is set last
    uint16_t count;                                 // number of words
    uint16_t highest;                               // the largest offset
    bool frame_matters;                             // PathFrame::frame_matters
    uint16_t offsets[kMostWords];                   // distance of each word from the stack pointer, in words
  };
  // The paths with digests of the same set. A set fills a cache line.
  static constexpr uint32_t kPathsOfSet = 5, kPathSets = 4096;
  struct alignas(64) Paths {
    uint64_t digests[kPathsOfSet];
    uint32_t nodes[kPathsOfSet]; // 0 = no path. A node is set after its digest
    uint32_t stored;             // number of paths that were stored in this set
  };
  // A step of a training takes thousands of different paths. If a set has room for all paths that lead to it, each path
  // is found in the next step.
  static constexpr uint32_t kShapesOfSet = 4, kShapeSets = 1024;

  static uint64_t keyOf(uint64_t address, uint64_t stack_pointer) noexcept;
  static const Shape &loaded(const Shape &) noexcept;
  const Shape *shapeOf(const unwind::Frame &innermost) const noexcept;
  Shape &placeFor(const PathFrame &innermost) noexcept;
  bool fill(Shape &shape, uint64_t salt, const PathFrame &innermost, const StackCheck *checks,
            uint32_t count) const noexcept;
  uint64_t saltOf(const PathFrame &innermost, const StackCheck *checks, uint32_t count) const noexcept;
  void storePath(uint64_t digest, uint32_t node) noexcept;

  uint32_t round_;
  uint32_t replaced_;                       // number of shapes that were replaced
  uint64_t keys_[kShapeSets][kShapesOfSet]; // keyOf() the shapes: most other shapes are skipped without a look at them
  Shape shapes_[kShapeSets][kShapesOfSet];
  Paths paths_[kPathSets];
};

} // namespace msleaks::runtime
