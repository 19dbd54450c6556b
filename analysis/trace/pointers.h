// Pointers in the memory of a process at one moment, as a trace stores them. They are the words that may be pointers,
// with the kind of memory that contained each word.
#pragma once

#include "analysis/trace/bytes.h"
#include "analysis/trace/code_place.h"
#include "analysis/trace/format.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace msleaks::analysis::inline trace {

// The use of a part of the memory.
enum class RegionUse : uint8_t {
  Globals,     // variables of an image
  ThreadLocal, // variables of a thread
  Stack,       // the part of a stack that is in use
  Registers,   // they have no address, so get addresses from kFirstRegister on
  Heap,        // the C library's heap: outside of blocks, it is free memory or the allocator's own data
  Other,       // any other memory
};
inline constexpr uint64_t kFirstRegister = uint64_t{1} << 63;

struct MemoryRegion {
  uint64_t begin = 0, end = 0;
  RegionUse use = RegionUse::Other;
  uint32_t tid = 0;       // the thread, for ThreadLocal, Stack and Registers
  ImageFile image{};      // for Globals
  uint64_t load_bias = 0; // address in the process minus address in the file
};

// A word of the memory that may be a pointer.
struct Pointer {
  uint64_t at, to;
  bool operator==(const Pointer &) const = default;
};

// Some programs store tags in the upper 16 bits, which no address uses. Such a word may be a pointer or a number.
constexpr uint64_t addressOf(uint64_t word) { return word & ((uint64_t{1} << 48) - 1); }
constexpr bool isTagged(uint64_t word) { return addressOf(word) != word; }

struct PointerMap {
  uint32_t process = 0;
  uint64_t time_ns = 0;   // when it had been read; until then the process did not run
  uint64_t waited_ns = 0; // how long the process waited
  uint64_t read_bytes = 0;
  uint64_t pointers = 0;             // number of pointers
  std::string why_not;               // why it cannot be told which blocks are lost; empty = it can
  bool all_blocks = false;           // msleaks has recorded every block of the process
  std::vector<MemoryRegion> regions; // by address
};

// A map with its pointers. They stay packed, because a large process has millions of them.
class PointedMemory {
public:
  PointedMemory(PointerMap map, std::vector<std::vector<uint8_t>> packed)
      : map_(std::move(map)), packed_(std::move(packed)) {}
  const PointerMap &map() const { return map_; }
  // Pointers of one region come one after another, in the order of their addresses.
  template <class F> void forEachPointer(F &&f) const {
    for (const std::vector<uint8_t> &payload : packed_) {
      ByteReader bytes(payload);
      Pointer pointer{0, 0};
      while (bytes.left() > 0) {
        pointer.at += bytes.varint() * sizeof(uint64_t);
        pointer.to += unzigzag(bytes.varint());
        if (!bytes.failed())
          f(pointer);
      }
    }
  }

private:
  PointerMap map_;
  std::vector<std::vector<uint8_t>> packed_;
};

// Reads one map with its pointers; null if it is damaged. All maps together may need more memory than the live set.
using ReadPointed = std::function<std::shared_ptr<const PointedMemory>()>;

// Packs pointers as the payload of a chunk. The caller adds them in the order of their addresses.
class PointerPacker {
public:
  void add(const Pointer &pointer) {
    bytes_.varint((pointer.at - last_.at) / sizeof(uint64_t));
    bytes_.varint(zigzag(pointer.to - last_.to));
    last_ = pointer;
    ++count_;
  }
  uint64_t count() const { return count_; }
  bool isFull() const { return bytes_.size() >= kMaxPointersRawBytes - 2 * kMaxVarintBytes; }
  std::span<const uint8_t> payload() const { return bytes_.written(); }
  void clear() {
    bytes_.clear();
    last_ = {0, 0};
    count_ = 0;
  }

private:
  ByteWriter bytes_;
  Pointer last_{0, 0};
  uint64_t count_ = 0;
};

void writePointerMap(const PointerMap &, ByteWriter &);
// The process and the time are in the header of the chunk.
PointerMap readPointerMap(ByteReader &);

// Puts together the chunks of pointers and the chunk of the map after them.
class PointerAssembly {
public:
  static constexpr bool takes(ChunkKind kind) { return kind == ChunkKind::Pointers || kind == ChunkKind::PointerMap; }
  // Takes a chunk of one of these kinds. With the chunk of the map, returns the whole; if pointers are missing, its
  // why_not is set. Returns null for a chunk of pointers, or if the map is damaged.
  std::shared_ptr<const PointedMemory> take(const ChunkHeader &, std::span<const uint8_t> payload);

private:
  std::map<uint32_t, std::vector<std::vector<uint8_t>>> packed_; // by process
};

} // namespace msleaks::analysis::inline trace
