// What the analyses of a run say: values that hold no catalog numbers, so that those of several processes, ranks or
// runs can be put together.
#pragma once

#include "analysis/live/cohort_sums.h"
#include "analysis/live/live_set.h"
#include "analysis/places/site_text.h"
#include "analysis/result/ledger.h"
#include "analysis/result/section.h"
#include "analysis/result/series.h"
#include "analysis/result/watched.h"
#include "analysis/result/what_if.h"
#include "msleaks/abi/handles.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline result {

struct ReportProcess {
  uint32_t process = 0; // number in the trace; 0 = it never recorded anything
  uint32_t pid = 0;
  std::vector<std::string> command;
  std::optional<int> exit; // as a shell reports it
  FreeCause fate = FreeCause::StillAlive;
};

// Blocks of a line that one path led to. Paths share the texts of their calls.
struct PathLine {
  uint64_t bytes = 0, count = 0;
  std::vector<std::shared_ptr<const SiteText>> calls; // the allocator's caller first
  bool complete = false;                              // the last one is the first call of its thread
  uint64_t id = 0;                                    // the same in every run
};

// A list has at most so many calls in all its paths; those with the most bytes are there.
inline constexpr size_t kMaxCallsOfList = 100'000;

// One line of a list: the place, and the paths that led there, most bytes first.
struct SiteLine {
  SiteText site;
  AllocatorText allocator;
  uint64_t bytes = 0, count = 0;
  std::vector<PathLine> paths;
  uint64_t more_paths = 0; // that are left out
  bool own = false;        // in code of the user's own: such lines come first
  std::string child;       // the program of a child process that the place is in; empty: it is in the first one's
};
struct NamedLine {
  std::string name; // empty = not known
  uint64_t bytes = 0, count = 0;
};
struct LeakLine : SiteLine { // `bytes` and `count` are those of `remains`
  Remains remains;
  std::string reason; // why it is suppressed
};

// Handles that one place has taken and nobody gave back. They have no bytes; `count` is all there is.
struct HandleLine : SiteLine {
  abi::HandleKind kind = abi::HandleKind::None;
};

struct ProcessPeak {
  uint32_t process = 0;
  uint64_t bytes = 0, time_ns = 0;
  std::optional<uint64_t> resident_bytes = {};         // as sampled next to that time
  std::optional<uint64_t> highest_resident_bytes = {}; // of all its samples
};
// One device's part of a heap has a peak of its own.
struct DevicePeak {
  uint8_t device = 0;
  uint64_t bytes = 0, time_ns = 0;
};
struct HeapPeak {
  abi::Heap heap = abi::Heap::Host;
  uint64_t bytes = 0, time_ns = 0;        // of all devices together
  std::vector<SiteLine> by_site;          // without paths
  std::vector<DevicePeak> by_device = {}; // ascending; empty: the heap is the host's
};
struct PeakReport {
  uint64_t bytes = 0, time_ns = 0;        // CLOCK_MONOTONIC
  std::optional<uint64_t> resident_bytes; // of the processes that have a share, as sampled next to that time
  std::vector<SiteLine> by_site;
  std::vector<NamedLine> by_type, by_owner;
  std::vector<HeapPeak> by_heap; // only heaps that were used
  std::vector<ProcessPeak> by_process;
};

// Blocks of physical heaps, and apart from them those of pools, which are parts of the former.
struct RemainsReport {
  BlockSum sum;
  std::vector<LeakLine> by_site;
  BlockSum pool_sum;
  std::vector<LeakLine> pool_by_site;
  bool empty() const { return sum.count == 0 && pool_sum.count == 0; }
};

// The leaks of which a finding is proved or likely. All other leaks are a library's, which may keep the blocks for
// itself.
struct FoundLeaks {
  BlockSum sum, pool_sum; // of physical heaps, and of pools
  uint64_t places = 0;
};

enum class Confidence : uint8_t {
  Proved, // it was shown to be so
  Likely, // nothing was seen that speaks against it
  Hint,   // worth a look
};
const char *nameOf(Confidence);

// What a fix of a finding changes; findings are listed in this order.
enum class Concern : uint8_t {
  Content, // whether the program computes with what it has stored
  Refusal, // whether the program gets what it asks for
  Memory,  // the peak
  Time,    // what allocating takes of it
  Handles, // how many handles are open
};

// A number, a text or texts that a finding rests on.
using Evidence =
    std::vector<std::pair<std::string, std::variant<uint64_t, double, std::string, std::vector<std::string>>>>;
inline constexpr char kGrowthEvidence[] = "growth_bytes_per_step"; // of a finding whose blocks grow from step to step

// Blocks of open FILEs that another place allocated: a FILE that freopen() opens again keeps its block.
struct ReopenedFiles {
  FrameText allocated_at;
  uint64_t count = 0;
};

// What an analyzer says about the blocks of one place.
struct Finding : SiteLine {  // `bytes` and `count`: of the blocks that it is about
  std::string id;            // the same in every run in which the place is the same
  std::string kind;          // finding_kinds.def; of the user's own analyzers, ANALYZER/KIND
  uint32_t family = 0;       // of lost leaks that one place's leads to: by what they are together, from 1; else 0
  uint64_t family_bytes = 0; // of the place of that family that was lost, with all that it leads to
  std::string part;          // of the place's blocks, where another finding of the kind is about the first; else empty
  std::string callers;       // the way to the place, where another finding of the kind is about another way; else empty
  std::string analyzer;      // the user's own that says it; empty: one of ours
  Concern concern = Concern::Memory;
  Confidence confidence = Confidence::Hint;
  abi::Heap heap = abi::Heap::Host;
  uint8_t device = 0;
  uint64_t saves_bytes = 0; // what the peak of its heap (a device's: of that device) falls by, if it is fixed
  uint64_t saves_cumulative_bytes = 0; // and all findings above it are fixed, too
  uint64_t saves_ns = 0;               // of threads' time, estimated
  double byte_seconds = 0;             // bytes times lifetime of its blocks
  std::string owner;
  std::string closed_library; // whose own blocks these are; such findings stand behind all others
  FrameText holder;           // where the block was allocated that points to the largest one; empty: nobody is known
  std::vector<ReopenedFiles> reopened; // of open FILEs
  Evidence evidence;
  std::string advice;     // one sentence
  bool retracted = false; // what happened later spoke against it
};

// The peak if every block lived from its first use to its last one only, where all uses of its heap were seen.
struct Floor {
  uint64_t bytes = 0;
  std::vector<abi::Heap> heaps;      // whose uses were seen; blocks of others count all their life
  uint64_t largest_launch_bytes = 0; // bytes of the launch that is given most: no program with it needs less
  std::string largest_launch;        // where it is: file and line, and behind "<" who called; empty: not known
};

// Lists are sorted: own code first, then by bytes, then by place; so the same run gives the same report.
struct AnalysisResult {
  PeakReport peak;
  std::optional<WhatIf> what_if; // where the question is about changes
  std::optional<Floor> floor;    // none: no heap's uses were seen
  Ledger ledger;
  RemainsReport leaks;             // their process exited
  FoundLeaks found_leaks;          // of these
  RemainsReport suppressed;        // the same, known to be harmless
  RemainsReport alive;             // their process was killed or goes on
  RemainsReport unsure;            // their free may lie in a pause of the recording
  std::vector<HandleLine> handles; // open when their process ended, or the recording did
  std::vector<Finding> findings;   // that probably save most first
  std::vector<Section> sections;
  std::vector<WatchLine> watch; // in the order of time
  // Where the question asks for it. It is kept beside the report, not in it.
  std::shared_ptr<const Series> series;
};

} // namespace msleaks::analysis::inline result
