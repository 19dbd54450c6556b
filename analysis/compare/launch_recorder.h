// Records the launches and ranges of a stream of events.
#pragma once

#include "analysis/compare/launches.h"
#include "analysis/live/launched_kernels.h"
#include "analysis/places/site_catalog.h"
#include "analysis/stream/analyzer.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline compare {

class LaunchRecorder final : public Analyzer {
public:
  // `catalog` and `names` must outlive the recorder.
  LaunchRecorder(SiteCatalog &catalog, NameTable &names) : catalog_(catalog), names_(names) {}

  std::string_view name() const override { return "launches"; }
  uint32_t eventKinds() const override {
    return LaunchedKernels::kEvents | abi::enabledBit(abi::EventKind::RangeBegin) |
           abi::enabledBit(abi::EventKind::RangeEnd) | abi::enabledBit(abi::EventKind::Failed);
  }
  void onEvent(const StreamEvent &, SiteId) override;
  void onAlloc(const Block &, AllocCause, uint64_t time_ns) override;
  void onPart(const Block &part, const Block &whole, uint64_t time_ns) override;
  void onFree(const Block &, FreeCause, uint64_t time_ns) override;
  void onProcessEnd(uint32_t process, const ProcessFate &) override { endProcess(process); }

  // Ends all processes and returns their sequences.
  std::vector<LaunchSequence> take();

private:
  using Slot = uint32_t; // number of an account, from 1

  // A launch or range that has not ended yet.
  struct Open {
    size_t index;        // index in Account::launches
    uint64_t peak_bytes; // peak until the next launch or range was opened
  };
  // The memory of one process on one device, or on the host.
  struct Account {
    uint32_t process = 0;
    std::optional<uint8_t> device;
    uint64_t bytes = 0;
    std::vector<Launch> launches;
    std::vector<Open> open;            // open launches and ranges, in the order of their begin
    std::optional<size_t> last_launch; // the launch that is still open
    size_t waiting = 0;                // launches from this index on have no next_bytes yet
  };
  struct Range {
    uint32_t stream;
    uint64_t id;
    uint32_t name;
    std::vector<std::pair<Slot, size_t>> entries; // accounts, and the range's index in each account
  };
  struct Process {
    std::vector<Slot> accounts;
    std::vector<Range> ranges; // open ranges, in the order of their begin
  };
  // The last launch of a thread.
  struct LastLaunch {
    Slot account = 0;
    size_t index = 0;
    uint64_t kernel = 0;
    SiteId site;
  };
  // A new block of a device. A pool may later take its parts from this block.
  struct Pending {
    Slot account = 0; // 0: no block is pending
    uint32_t block = 0;
    uint64_t bytes = 0;
  };

  Account &at(Slot slot) { return accounts_[slot - 1]; }
  Slot accountOf(uint32_t process, std::optional<uint8_t> device);
  size_t begin(Account &, uint32_t name, bool is_range);
  static void end(Account &, size_t index);
  static void add(Account &, int64_t bytes);
  void countPending();
  void onLaunch(const StreamEvent &, SiteId);
  void onFailed(const StreamEvent &, SiteId);
  void onRangeBegin(const StreamEvent &);
  void onRangeEnd(const StreamEvent &);
  uint32_t nameOf(const StreamEvent &launch, SiteId);
  void endProcess(uint32_t process);

  SiteCatalog &catalog_;
  NameTable &names_;
  LaunchedKernels kernels_;
  std::unordered_map<uint32_t, Process> processes_;
  std::unordered_map<uint64_t, Slot> slots_; // accounts of running processes, by process and device
  std::deque<Account> accounts_;
  std::vector<Slot> free_slots_;
  std::vector<Slot> counted_in_;                  // account that counts a block of a device or pool, by its number
  std::unordered_map<uint64_t, LastLaunch> last_; // by process and thread
  std::unordered_map<SiteId, uint32_t> nameless_; // by site: names of launches whose kernel has no name
  std::unordered_map<LabelId, uint32_t> label_names_;
  Pending pending_;
  std::vector<std::pair<uint32_t, LaunchSequence>> ended_; // each with the number of its process in the trace
};

} // namespace msleaks::analysis::inline compare
