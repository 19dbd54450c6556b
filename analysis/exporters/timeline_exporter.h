// A format for viewers of timelines. It has the memory over time, launches, steps, marks and findings.
#pragma once

#include "analysis/exporters/exporter.h"
#include "analysis/exporters/kernel_facts.h"
#include "analysis/exporters/memory_curve.h"
#include "analysis/live/account.h"
#include "analysis/live/cohort_sums.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace msleaks::analysis::inline exporters {

// A fact about a slice of the timeline.
struct SliceFact {
  std::string_view name;
  std::variant<uint64_t, std::string> value;
};

struct Slice {
  uint32_t process = 0, stream = 0;  // a launch or a mark: the thread
  uint64_t begin_ns = 0, end_ns = 0; // equal: a moment
  std::string name;
  std::vector<SliceFact> facts;
  uint32_t pid = 0, tid = 0; // of kernel evidence, which has no stream of the thread
};

class TimelineExporter : public BlockExporter {
public:
  uint32_t eventKinds() const final {
    return abi::enabledBit(abi::EventKind::Launch) | abi::enabledBit(abi::EventKind::Mark) |
           abi::enabledBit(abi::EventKind::Step) | abi::kKernelEvidence;
  }
  void begin(ReadRun &) final;
  void onAlloc(ReadRun &, const Block &, BlockNumber, AllocCause, uint64_t time_ns) final;
  void onFree(ReadRun &, const Block &, BlockNumber, FreeCause, uint64_t time_ns) final;
  void onEvent(ReadRun &, const StreamEvent &, SiteId) final;
  void end(ReadRun &) final;

protected:
  // The blocks of one place, thread and owner in an account, at the account's peak.
  struct CohortShare {
    CohortId cohort;
    BlockSum sum;
  };

  virtual void beginTimeline(ReadRun &) = 0;
  // A curve has this name from now on. Curves are numbered from 0.
  virtual void addCurve(size_t curve, const std::string &name) = 0;
  virtual void addPoint(size_t curve, uint64_t time_ns, uint64_t bytes) = 0;
  // Their names and facts are printable. Launches and marks come in the order of time.
  virtual void addLaunch(const Slice &) = 0;
  virtual void addMark(const Slice &) = 0;
  virtual void addStep(const Slice &) = 0;
  // Time in the kernel for a thread. The slices come in the order of their ends.
  virtual void addKernel(const Slice &) {}
  // Findings come last, and span the whole run.
  virtual void addFinding(const Slice &) = 0;
  virtual bool hasProfiles() const { return false; }
  virtual void addProfile(ReadRun &, const std::string & /*curve*/, uint64_t /*time_ns*/,
                          const std::vector<CohortShare> &) {}
  virtual void endTimeline(ReadRun &) = 0;

private:
  // A curve, and the peak that the report has for it.
  struct AccountCurve {
    std::string name;
    MemoryCurve curve;
    uint64_t peak_bytes = 0;
    std::optional<Account> account = {}; // none: all physical heaps
    bool of_heap = false;                // of all devices
    bool is_taken = false;               // its profile
  };
  using CurveNumber = uint16_t;

  void addAccount(const Report &, std::string name, uint64_t peak_bytes, std::optional<Account>, bool of_heap);
  void change(ReadRun &, const Block &, uint64_t time_ns, int64_t sign);
  void changeCurve(ReadRun &, size_t curve, uint64_t time_ns, int64_t bytes);
  std::vector<CohortShare> sharesOf(const ReadRun &, const AccountCurve &) const;
  void addEvidence(const StreamEvent &);
  void beginStep(uint32_t process, uint64_t number, uint64_t time_ns);
  void endStep(uint32_t process, uint64_t time_ns);
  void addFindings(const Report &);

  std::vector<AccountCurve> curves_;
  std::vector<CurveNumber> curve_of_; // by heap and device; 0 = none
  std::vector<BlockSum> sums_;        // by cohort
  std::map<uint32_t, Slice> steps_;   // open steps, by process
  TaskNames task_names_;
};

} // namespace msleaks::analysis::inline exporters
