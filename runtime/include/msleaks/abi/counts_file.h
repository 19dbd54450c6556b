// What a process counts: RUN/graphs/<pid>.<attach ticks, hex>.counts, written by the process itself, and readable at
// any moment, also when it is killed.
//
//   CountsHeader | slab | slab | …          a slab:  CountsSlab | record | record | … | zeros
//
// A record is CountsRecord and its body, a multiple of 8 bytes. Its magic is stored last: what has none is not there.
// Counters go on changing; a number of 64 bits is read whole.
#pragma once

#include <atomic>
#include <cstdint>

namespace msleaks::abi {

inline constexpr char kCountsFolder[] = "graphs";
inline constexpr char kCountsSuffix[] = ".counts";
inline constexpr uint32_t kCountsVersion = 1;

struct CountsHeader {
  static constexpr uint64_t kMagic = 0x53544e43'4c534d01;
  uint64_t magic;
  uint32_t version;
  uint32_t header_bytes; // the first slab follows
  uint32_t pid;
  uint32_t reserved;
  uint64_t attach_ns; // CLOCK_MONOTONIC, as ArenaHeader::attach_ns
  uint8_t spare[32];
};
static_assert(sizeof(CountsHeader) == 64);
inline constexpr uint32_t kCountsHeaderBytes = 4096; // slabs begin on pages, whose size is a multiple of it

struct CountsSlab {
  uint64_t bytes; // of the slab, itself among them; 0: it is not there yet
};

enum class CountsKind : uint32_t {
  Unit = 1,     // a GraphHeader with its table, as it is in the module. Units have numbers, from 1, as they come
  Counters = 2, // of a unit and one thread at a time: numbers of 64 bits. All arrays of a unit are added up
  Launches = 3, // CountedLaunches of a unit's kernel: those of one shape
};

// They go on changing, too. A thread counts when its launch is counted and the mode says so: how many did is what came
// into the kernel, by its counters.
struct CountedLaunches {
  uint32_t function; // of the unit's table, from 0
  uint32_t mode;     // CountMode
  uint64_t grid[3];  // blocks; 0: not known
  uint64_t block[3]; // threads of a block; 0: the device chose
  uint64_t launches, counted;
  uint64_t threads, counted_threads; // of all these launches, and of those that are counted
};
static_assert(sizeof(CountedLaunches) == 88);

struct CountsRecord {
  static constexpr uint32_t kMagic = 0x54525343;
  std::atomic<uint32_t> magic; // stored last
  CountsKind kind;
  uint32_t unit;
  uint32_t checksum; // of Counters: GraphHeader::checksum of the unit that they are of; 0: not said
  uint64_t bytes;    // of the body
};
static_assert(sizeof(CountsRecord) == 24);

} // namespace msleaks::abi
