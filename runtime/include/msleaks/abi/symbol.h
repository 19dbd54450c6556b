// Declares a row: what one function does with memory, and the packed traits of a row that a callback gets.
#pragma once

#include "msleaks/abi/events.h"

#include <cstdint>
#include <string_view>

namespace msleaks::abi {

enum class Family : uint8_t {
#define MSL_FAMILY(name, text, doc) name,
#include "msleaks/abi/families.def"
  Count
};

constexpr const char *nameOf(Family family) {
  switch (family) {
#define MSL_FAMILY(name, text, doc)                                                                                    \
  case Family::name:                                                                                                   \
    return text;
#include "msleaks/abi/families.def"
  default:
    return "?";
  }
}

// The effect of a call. Only hooks see calls with the verb Argument or a later one.
enum class Verb : uint8_t {
  Alloc,
  Realloc,
  Map,
  Free,
  Retain,
  Launch,
  Copy,
  Set,
  Wrap, // returns a block that an allocator inside the call has recorded; only changes the block's site
  Protect,
  Argument, // sets an argument of a kernel
  Kernel,   // returns a kernel, with no arguments or with copies of another kernel's arguments
  Access,
  Device, // sets the device that the thread uses from now on
  Handle, // has only effects on handles
  Show    // sets the physical block that device addresses refer to from now on
};

constexpr const char *nameOf(Verb verb) {
  constexpr const char *kNames[] = {"alloc", "realloc", "map",      "free",   "retain", "launch", "copy",   "set",
                                    "wrap",  "protect", "argument", "kernel", "access", "device", "handle", "show"};
  return kNames[static_cast<unsigned>(verb)];
}

// The position of a value in a call: a parameter counted from the front (0, 1, …) or from the end (-1, -2, …).
class Position {
public:
  constexpr Position() = default;
  constexpr explicit Position(int index) : index_(static_cast<int8_t>(index)) {}
  constexpr bool present() const { return index_ != kNone; }
  constexpr int index() const { return index_; }
  // Returns the parameter's number in a call with `count` parameters, or -1 if there is no such parameter.
  constexpr int resolve(int count) const {
    const int at = index_ < 0 ? count + index_ : index_;
    return present() && at >= 0 && at < count ? at : -1;
  }
  constexpr bool operator==(const Position &) const = default;

private:
  static constexpr int8_t kNone = -128;
  int8_t index_ = kNone;
};

// The way in which a call returns the block to the caller (see functions.h).
enum class ResultKind : uint8_t { None, Return, Out, Handle, At };
struct Result {
  ResultKind kind = ResultKind::None;
  Position at;
  constexpr bool operator==(const Result &) const = default;
};
// Returns the event flags of a block that a call returns in this way. A handle is not the address of the block's memory
// (kDriver). So only calls of OpenCL can use this memory, and hooks see all these calls (kListed).
constexpr uint16_t flagsOf(ResultKind kind) {
  return kind == ResultKind::Handle ? uint16_t{kDriver | kListed} : uint16_t{0};
}

// The way in which a launch passes the sizes of its grid and blocks. Threads means six integers as in Sizes, but the
// first three count the threads of the whole grid.
enum class ShapeKind : uint8_t { None, Dim3, Range, Blocks, Sizes, Config, Threads };
// Returns the number of blocks of a grid whose size is given in threads, or 0 if a block has no threads.
constexpr uint64_t blocksOf(uint64_t threads, uint32_t block) { return block != 0 ? (threads + block - 1) / block : 0; }
// The first fields of CUDA's CUlaunchConfig and cudaLaunchConfig_t.
struct LaunchConfig {
  uint32_t grid[3], block[3];
  uint32_t shared_bytes; // in cudaLaunchConfig_t, the lower half of dynamicSmemBytes
  uint32_t reserved;
  const void *stream;
};
struct Shape {
  ShapeKind kind = ShapeKind::None;
  Position at;
  constexpr bool operator==(const Shape &) const = default;
};

// One row. The comment of a Position field names the verbs that use the field. For other verbs the
// position is absent.
struct Symbol {
  std::string_view name{};
  Verb verb{};
  Family family{};
  Heap heap{};
  uint16_t flags = 0; // EventFlag bits of the call's events
  Result result{};
  Position size{}, count{};
  Position address{};  // Free, Retain, Protect, Show; Realloc: the old block; Copy, Set, Access: the destination
  Position old_size{}; // Realloc, if the function has a parameter for the old size
  Position source{}, direction{};   // Copy; `source` is also for Access, and for Show: the block
  Position value{};                 // Set, Argument; Show: offset in the block
  Position index{};                 // Argument; Device: the device's ordinal
  Position protection{}, mapping{}; // Map; `protection` is also for Protect; `mapping` is also for mremap: its flags
  Position kernel{}, stream{}, shared{};
  Shape shape{};
  int partner = -1;        // number of the row that frees the blocks of this row
  bool copied = false;     // Kernel: the call copies another kernel, with its arguments
  bool status = false;     // an integer result is 0 on success
  bool only_hooks = false; // the pass does not insert callbacks around the call
  constexpr bool operator==(const Symbol &) const = default;
};

// Whether the pass inserts callbacks around a call of this function.
constexpr bool isInstrumented(const Symbol &symbol) { return symbol.verb < Verb::Argument && !symbol.only_hooks; }
// Whether a call with this verb is recorded as an event of its own, before or after the call.
constexpr bool isRecorded(Verb verb) { return verb != Verb::Argument && verb != Verb::Kernel && verb != Verb::Device; }

// The facts of a row that a callback needs, in one immediate operand:
//   bits 0..3 heap · 4..7 event flags 8..11 · 8..15 family · 16..23 event flags 0..7 · 24..31 verb
// In objects of the first version, bits 4..7 were 0. So this layout is valid for these objects, too.
class Traits {
public:
  constexpr explicit Traits(uint32_t packed) : packed_(packed) {}
  constexpr Traits(Verb verb, Family family, Heap heap, uint16_t flags)
      : packed_(static_cast<uint32_t>(heap) | (flags >> 8 & 0xfu) << 4 | static_cast<uint32_t>(family) << 8 |
                (flags & 0xffu) << 16 | static_cast<uint32_t>(verb) << 24) {}
  constexpr uint32_t packed() const { return packed_; }
  constexpr Heap heap() const { return static_cast<Heap>(packed_ & 0xf); }
  constexpr Family family() const { return static_cast<Family>(packed_ >> 8 & 0xff); }
  constexpr uint16_t flags() const { return static_cast<uint16_t>((packed_ >> 16 & 0xff) | (packed_ >> 4 & 0xf) << 8); }
  constexpr Verb verb() const { return static_cast<Verb>(packed_ >> 24); }
  constexpr bool operator==(const Traits &) const = default;

private:
  uint32_t packed_;
};

} // namespace msleaks::abi
