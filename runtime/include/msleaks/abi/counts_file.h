// The format of a file with the edge counters of one process (graph_table.h). The file is RUN/graphs/<pid>.<attach
// ticks, hex>.counts. A reader can read it at any moment, also after the process was killed.
//
//   CountsHeader | slab | slab | …          a slab:  CountsSlab | record | record | … | zeros
//
// A record is a CountsRecord and its body, a multiple of 8 bytes. The process stores the record's magic last, so a
// record without magic is not complete. After it has stored the magic, the process still changes the counters in the
// record. A reader never sees half of a 64-bit number.
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
  uint32_t header_bytes; // size of the header; the first slab follows
  uint32_t pid;
  uint32_t reserved;
  uint64_t attach_ns; // when the process attached, by CLOCK_MONOTONIC
  uint8_t spare[32];
};
static_assert(sizeof(CountsHeader) == 64);
inline constexpr uint32_t kCountsHeaderBytes = 4096; // size of the header, before it is rounded up to whole pages

struct CountsSlab {
  uint64_t bytes; // size of the slab, including this field; 0: the slab is not complete yet
};

enum class CountsKind : uint32_t {
  Unit = 1,     // the table of a module (GraphHeader). The first Unit record is unit 1, the next is unit 2
  Counters = 2, // one array of 64-bit counters of a unit. A reader adds up all arrays of a unit
  Launches = 3, // CountedLaunches: launches of one kernel with equal sizes of grid and blocks
};

// The process still changes the numbers of launches and threads after it has published the record. A launch or thread
// is "counted" if its edges are added to the counters. In a counted launch, `mode` chooses the counted threads.
struct CountedLaunches {
  uint32_t function; // number of the kernel in the unit's table, from 0
  uint32_t mode;     // value of CountMode
  uint64_t grid[3];  // numbers of blocks in x, y, z; 0: not known
  uint64_t block[3]; // threads of a block in x, y, z; 0: the device chose them
  uint64_t launches, counted;
  uint64_t threads, counted_threads; // threads of all launches; threads that are counted
};
static_assert(sizeof(CountedLaunches) == 88);

struct CountsRecord {
  static constexpr uint32_t kMagic = 0x54525343;
  std::atomic<uint32_t> magic; // kMagic; stored last
  CountsKind kind;
  uint32_t unit;
  uint32_t checksum; // for Counters: the unit's GraphHeader::checksum; 0: not known
  uint64_t bytes;    // size of the body
};
static_assert(sizeof(CountsRecord) == 24);

} // namespace msleaks::abi
