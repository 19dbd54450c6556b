// Pointers in the memory of a process at one moment, as a trace keeps them. These are the words that may be pointers,
// and the kind of memory in which they were found.
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
  Globals,     // of an image
  ThreadLocal, // of a thread
  Stack,       // the part of it that is in use
  Registers,   // have no address: kFirstRegister and above
  Heap,        // the C library's own: what is in no block is free, or tells of blocks
  Other,       // nobody was seen to map it
};
inline constexpr uint64_t kFirstRegister = uint64_t{1} << 63;

struct MemoryRegion {
  uint64_t begin = 0, end = 0;
  RegionUse use = RegionUse::Other;
  uint32_t tid = 0;       // of a thread's
  ImageFile image{};      // of Globals
  uint64_t load_bias = 0; // load bias of the image: address here less address in the file
};

// A word of the memory that may be a pointer.
struct Pointer {
  uint64_t at, to;
  bool operator==(const Pointer &) const = default;
};

// Programs keep tags in the bits that no address has. Whether such a word is a pointer only they know.
constexpr uint64_t addressOf(uint64_t word) { return word & ((uint64_t{1} << 48) - 1); }
constexpr bool isTagged(uint64_t word) { return addressOf(word) != word; }

struct PointerMap {
  uint32_t process = 0;
  uint64_t time_ns = 0;   // when it had been read; nothing ran in the process meanwhile
  uint64_t waited_ns = 0; // by the process
  uint64_t read_bytes = 0;
  uint64_t pointers = 0;             // how many there are
  std::string why_not;               // it was not read, or not as a whole; empty: it was
  bool all_blocks = false;           // everything that lived in its heap had been recorded
  std::vector<MemoryRegion> regions; // by address
};

// A map with its pointers, which stay packed: a large process has millions of them.
class PointedMemory {
public:
  PointedMemory(PointerMap map, std::vector<std::vector<uint8_t>> packed)
      : map_(std::move(map)), packed_(std::move(packed)) {}
  const PointerMap &map() const { return map_; }
  // Those of one region come in a row, and in the order of their addresses.
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

// Reads one from where it is; null: it makes no sense. All of them together may be larger than what is alive.
using ReadPointed = std::function<std::shared_ptr<const PointedMemory>()>;

// Pointers as the payload of a chunk. They come by rising address.
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
// Process and time stand in the header of the chunk.
PointerMap readPointerMap(ByteReader &);

// Puts chunks of pointers and of the map behind them together.
class PointerAssembly {
public:
  static constexpr bool takes(ChunkKind kind) { return kind == ChunkKind::Pointers || kind == ChunkKind::PointerMap; }
  // A chunk of one of these kinds. Whole with the map; one that lacks some of its pointers says so. Null: more comes,
  // or it makes no sense.
  std::shared_ptr<const PointedMemory> take(const ChunkHeader &, std::span<const uint8_t> payload);

private:
  std::map<uint32_t, std::vector<std::vector<uint8_t>>> packed_; // by process
};

} // namespace msleaks::analysis::inline trace
