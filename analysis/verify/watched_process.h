// A process that watches blocks, and its threads, as the tracer knows them.
#pragma once

#include "analysis/verify/tracer.h"
#include "analysis/verify/watched_pages.h"
#include "msleaks/abi/guarded.h"

#include <algorithm>
#include <csignal>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace msleaks::analysis {

// What a guard call says, until it is over.
struct Told {
  abi::GuardCall what{};
  uint64_t address = 0, bytes = 0;
  std::string text;
};

struct WatchingThread {
  enum class Where {
    Stopped,
    Running, // it stops at its next call
    InCall,  // it stops at the call's end
    Unknown, // it stops at guard calls only
    Ending,
  };
  Where where = Where::Stopped;
  bool in_call = false;
  bool is_interrupted = false; // by us, perhaps in a call
  bool is_repeated = false;    // its call: what that is given, is open
  uint64_t control_block = 0;  // 0: not known
  std::vector<std::string> ranges;
  std::optional<Told> told;
  std::vector<Buffer> given; // to its call, on watched pages
  bool is_given_all = false; // nobody knows what it is given
  std::optional<siginfo_t> kept = {}; // of a signal that is sent again

  bool holdsPages() const { return is_given_all || !given.empty(); }
};

struct WatchingProcess : Tracer::AddressSpace {
  using AddressSpace::AddressSpace;
  std::list<WatchedBlock> blocks;
  bool is_watched = false; // or was: all its calls stop
  bool is_closed = false;  // its blocks' pages
  bool is_known = false;   // what is in its blocks, so that what changes while they are open is seen, too
  std::optional<uint64_t> step;

  WatchedBlock::Read reading() const;
  bool liesOn(const Buffer &buffer) const {
    return std::ranges::any_of(blocks, [&](const WatchedBlock &block) { return block.liesOn(buffer); });
  }
};

// As much as is there.
uint64_t readMemory(pid_t process, uint64_t address, std::span<std::byte> to);
std::string textAt(pid_t process, uint64_t address); // 0: none

} // namespace msleaks::analysis
