// Makes the arena, which is this process's file of rings in the session directory (abi/session.h), and makes it larger.
// The runtime makes the file when the hooks are loaded, or, without hooks, at the first event.
#pragma once

#include "coarse_calls.h"
#include "session.h"

namespace msleaks::runtime {

inline constexpr uint32_t kMaxImages = 2048;

// An executable or library with code that events refer to (image.h).
struct Image {
  uint64_t begin, end;
  uint64_t load_bias;
  uint64_t address;  // an address in a segment, by which the loader finds the image
  uint32_t identity; // hash that identifies the file, since another file may be loaded at the same addresses
  bool gone;         // the image was unloaded
  ImageKind kind;    // becomes Own if the image is armed later
};

// The order in which the collector and other threads see changes of the arena, also on processors that reorder stores:
//
//   header, then magic (release)                    the collector loads magic (acquire), then reads the header again
//   entry and its page, then ring_count (release)   ring_count (acquire), then the entry
//   ring_count and Arena::late are written under Process::lock, which acquires and releases
//   image, then Caller::address (release)           a thread that finds the address (relaxed) uses only the slot's
//                                                   number. It publishes its event after that load. The collector
//                                                   loads head and then the address (acquire), so it sees the
//                                                   address and the image
//   nodes of a path, then path_count (release)      an event with a node's number is published after both
//   definition in its file, then Unit::base,        an event with the number is published after both
//   Caller::address or a slot of LabelTable
//   (release)
//
// This struct is in anonymous memory of the process. A fork's child makes its own arena. All fields are changed under
// Process::lock.
struct Arena {
  abi::ArenaHeader *header;
  abi::RingEntry *entries;
  abi::LargeBlocks *large_blocks;
  PathText rings_path, defs_path;
  bool definitions_made; // the file of definitions exists
  bool definitions_full; // no more definitions can be written
  uint32_t image_count;
  uint32_t next_claim;   // index at which the next search for a drained ring begins
  uint32_t next_look;    // index at which the next search for ended threads begins
  abi::RingHeader *late; // ring that threads share after their end (thread_exit.h)
  char executable[4096]; // buffer for the path of an image; it is not on the stack, which may be small
  Image images[kMaxImages];
  abi::RingHeader *mapped[abi::kMaxRings];
};

// Returns the kind of a known image (numberOf).
inline ImageKind kindOf(const Arena &arena, uint32_t image) noexcept {
  ImageKind kind;
  __atomic_load(&arena.images[image - 1].kind, &kind, __ATOMIC_RELAXED);
  return kind;
}

// Makes the arena and its file. If there is no room or no permission, sets errno and returns null; the process then
// records nothing. `ancestor` is the arena that this process has inherited from its parent by a fork, or null.
Arena *makeArena(const Arena *ancestor) noexcept;

// A ring in state Claimed, and its entry; both are null if no ring was claimed. The ring's pages are allocated, but its
// header is not filled yet.
struct ClaimedRing {
  abi::RingHeader *ring;
  abi::RingEntry *entry;
};
ClaimedRing claimRing(Arena &arena, uint64_t bytes) noexcept;

// Claims a drained ring of `least_bytes` to `most_bytes`. Both pointers are null if there is no such ring.
ClaimedRing claimDrained(Arena &arena, uint64_t least_bytes, uint64_t most_bytes) noexcept;

// Allocates the pages of the table of callers. Returns false if there is no room or no collector.
bool makeCallers(Arena &arena) noexcept;

// Allocates the block with the index `block`, for abi::kPathBlockNodes nodes. Returns null if there is no room or no
// collector.
abi::PathNode *makePathBlock(Arena &arena, uint32_t block) noexcept;

} // namespace msleaks::runtime
