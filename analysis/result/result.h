// The results of the analyses of a run. They contain no numbers of a catalog, so results of several processes, ranks or
// runs can be combined.
#pragma once

#include "analysis/live/cohort_sums.h"
#include "analysis/live/live_set.h"
#include "analysis/places/site_text.h"
#include "analysis/result/kernel_evidence.h"
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

struct Pictures;

struct ReportProcess {
  uint32_t process = 0; // number in the trace; 0 = nothing was recorded
  uint32_t pid = 0;
  std::vector<std::string> command;
  std::optional<int> exit; // as a shell reports it
  FreeCause fate = FreeCause::StillAlive;
  std::string name = {}; // that the process had at last; empty = not known
  std::optional<uint32_t> rank = {};
  // All three are from the sample with the most `pss_bytes`. Not known if no process of the run forks.
  std::optional<uint64_t> pss_bytes = {}, private_bytes = {}, shared_bytes = {};
};

// The blocks of a line that were allocated by one path. Paths share the texts of their calls.
struct PathLine {
  uint64_t bytes = 0, count = 0;
  std::vector<std::shared_ptr<const SiteText>> calls; // the allocator's caller first
  bool complete = false;                              // whether the last call is the first call of its thread
  uint64_t id = 0;                                    // the same in every run
};

// A list contains at most this many calls in all its paths. It contains the paths with the most bytes.
inline constexpr size_t kMaxCallsOfList = 100'000;

// A line of a list: the place, and the paths to it. The path with the most bytes is the first.
struct SiteLine {
  SiteText site;
  AllocatorText allocator;
  uint64_t bytes = 0, count = 0;
  std::vector<PathLine> paths;
  uint64_t more_paths = 0; // number of paths that are left out
  bool own = false;        // in the user's own code: such lines come first
  std::string child;       // the place's program, if only a child process runs it; empty: the first process runs it
};
struct NamedLine {
  std::string name; // empty = not known
  uint64_t bytes = 0, count = 0;
};
struct LeakLine : SiteLine { // `bytes` and `count` are those of `remains`
  Remains remains;
  std::string reason; // why it is suppressed
};

// Handles that one place opened and that nobody closed. They have no bytes, only `count`.
struct HandleLine : SiteLine {
  abi::HandleKind kind = abi::HandleKind::None;
};

struct ProcessPeak {
  uint32_t process = 0;
  uint64_t bytes = 0, time_ns = 0;
  std::optional<uint64_t> resident_bytes = {};         // the sample nearest to that time
  std::optional<uint64_t> highest_resident_bytes = {}; // of all its samples
};
// Each device's part of a heap has a peak of its own.
struct DevicePeak {
  uint8_t device = 0;
  uint64_t bytes = 0, time_ns = 0;
};
struct HeapPeak {
  abi::Heap heap = abi::Heap::Host;
  uint64_t bytes = 0, time_ns = 0;        // of all devices together
  std::vector<SiteLine> by_site;          // without paths
  std::vector<DevicePeak> by_device = {}; // ascending; empty: the heap belongs to the host
};
struct PeakReport {
  uint64_t bytes = 0, time_ns = 0;        // CLOCK_MONOTONIC
  std::optional<uint64_t> resident_bytes; // sum for the processes with a share, as sampled nearest to that time
  std::vector<SiteLine> by_site;
  std::vector<NamedLine> by_type, by_owner;
  std::vector<HeapPeak> by_heap; // only of heaps that were used
  std::vector<ProcessPeak> by_process;
};

// Blocks of physical heaps, and separately blocks of pools, which are parts of these blocks.
struct RemainsReport {
  BlockSum sum;
  std::vector<LeakLine> by_site;
  BlockSum pool_sum;
  std::vector<LeakLine> pool_by_site;
  bool empty() const { return sum.count == 0 && pool_sum.count == 0; }
};

// The leaks whose finding is proved or likely. The other leaks belong to a library, which may keep the blocks for
// itself.
struct FoundLeaks {
  BlockSum sum, pool_sum; // of physical heaps, and of pools
  uint64_t places = 0;
};

enum class Confidence : uint8_t {
  Proved, // it was shown to be true
  Likely, // nothing contradicts it
  Hint,   // worth a look
};
const char *nameOf(Confidence);

// The thing that a fix of a finding changes. Findings are listed in this order.
enum class Concern : uint8_t {
  Content, // whether the program computes with the right content
  Refusal, // whether the program gets the memory that it asks for
  Memory,  // the peak
  Time,    // the time that allocations take
  Handles, // the number of open handles
};

// Facts that support a finding: numbers, texts, lists of texts and lines of code.
using Evidence = std::vector<
    std::pair<std::string, std::variant<uint64_t, double, std::string, std::vector<std::string>, FrameText>>>;
inline constexpr char kSampledEvidence[] = "sampled_every_bytes";  // the finding's bytes and count are estimates
inline constexpr char kGrowthEvidence[] = "growth_bytes_per_step"; // in a finding whose blocks grow from step to step

// Blocks of open FILEs that another place allocated: if freopen() opens a FILE again, the FILE keeps its block.
struct ReopenedFiles {
  FrameText allocated_at;
  uint64_t count = 0;
};

// The result of an analyzer about the blocks of one place.
struct Finding : SiteLine { // `bytes` and `count` are those of the finding's blocks
  std::string id;           // the same in every run with the same place
  std::string kind;         // finding_kinds.def; for the user's analyzers ANALYZER/KIND
  // The number of a lost leak and those that it leads to, from 1 for the largest, or of growths with one cause; else 0.
  uint32_t family = 0;
  uint64_t family_bytes = 0; // bytes of all findings with this number
  std::string part;          // tells apart findings of one kind about different blocks of a place; else empty
  std::string callers;       // tells apart findings of one kind about different paths to a place; else empty
  std::string analyzer;      // the user's analyzer that made it; empty: one of ours
  Concern concern = Concern::Memory;
  Confidence confidence = Confidence::Hint;
  abi::Heap heap = abi::Heap::Host;
  uint8_t device = 0;
  uint64_t saves_bytes = 0;            // how much a fix lowers the peak of its heap (on its device)
  uint64_t saves_cumulative_bytes = 0; // the same, if all findings above are fixed, too
  uint64_t saves_ns = 0;               // estimated time of threads that a fix saves
  double byte_seconds = 0;             // bytes of its blocks times their lifetime
  std::string owner;
  std::string module;         // as in evidence.module; empty = none
  FrameText forward;          // as in evidence.forward; empty = none
  std::string closed_library; // library that keeps these blocks for itself; such findings come last
  FrameText holder;           // where the block was allocated that points to the largest block; empty = not known
  std::vector<ReopenedFiles> reopened; // among open FILEs
  Evidence evidence;
  std::string advice;     // one sentence
  bool retracted = false; // later events contradicted it
};

// The peak if each block lived only from its first use to its last. Only for heaps of which all uses were seen.
struct Floor {
  uint64_t bytes = 0;
  std::vector<abi::Heap> heaps;      // heaps whose uses were seen; blocks of other heaps count for their whole life
  uint64_t largest_launch_bytes = 0; // bytes of the launch that uses the most: the program needs at least this much
  std::string largest_launch;        // file and line of this launch, and its caller after "<"; empty = not known
};

// Lists are sorted (own code first, then by bytes, then by place), so the same run always gives the same report.
struct AnalysisResult {
  PeakReport peak;
  std::optional<WhatIf> what_if; // only if the question is about changes
  std::optional<Floor> floor;    // none: no heap's uses were seen
  Ledger ledger;
  RemainsReport leaks;             // alive when their process exited
  FoundLeaks found_leaks;          // sums over some of these leaks
  RemainsReport suppressed;        // like leaks, but known to be harmless
  RemainsReport alive;             // their process was killed, or still runs
  RemainsReport unsure;            // they may have been freed during a pause of the recording
  std::vector<HandleLine> handles; // open at the end of their process or of the recording
  std::vector<Finding> findings;   // the finding that probably saves most is the first
  std::vector<Section> sections;
  std::vector<WatchLine> watch; // in the order of time
  KernelEvidence kernel;
  // All blocks of physical heaps that were ever allocated. Only if the question asks for it, and not in the JSON.
  std::vector<SiteLine> allocated;
  // Only if the question asks for it. It is stored beside the report, not in it.
  std::shared_ptr<const Series> series;
  // Only a page draws them. Only if the question asks for them, and not in the JSON.
  std::shared_ptr<const Pictures> pictures;
};

} // namespace msleaks::analysis::inline result
