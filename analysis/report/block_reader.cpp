#include "analysis/report/block_reader.h"

#include "analysis/base/tables.h"
#include "analysis/report/run_analysis.h"
#include "analysis/report/running_report.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline report {
namespace {

// Numbers blocks. The same events give the same numbers.
class BlockNumbers {
public:
  BlockNumber begin(BlockId id) { return elementAt(by_id_, id.index) = ++last_; }
  BlockNumber of(BlockId id) const { return by_id_[id.index]; }

private:
  std::vector<BlockNumber> by_id_;
  BlockNumber last_ = 0;
};

// In the first reading: stores the cohorts that blocks got after their beginning.
class LateCohorts final : public Analyzer {
public:
  std::string_view name() const override { return "late_cohorts"; }
  void onAlloc(const Block &block, AllocCause, uint64_t) override { numbers_.begin(block.id); }
  void onRetarget(const Block &block, const Block &, uint64_t) override {
    late_.emplace_back(numbers_.of(block.id), block.cohort);
  }
  // A block may have changed its cohort several times. The last change is kept.
  std::vector<std::pair<BlockNumber, CohortId>> take() {
    std::ranges::stable_sort(late_, {}, &std::pair<BlockNumber, CohortId>::first);
    return std::move(late_);
  }

private:
  BlockNumbers numbers_;
  std::vector<std::pair<BlockNumber, CohortId>> late_;
};

// In the second reading: passes everything on to the reader.
class SecondReading final : public Analyzer {
public:
  SecondReading(ReadRun &run, BlockReader &reader, std::vector<std::pair<BlockNumber, CohortId>> late)
      : run_(run), reader_(reader), late_(std::move(late)), wanted_(reader.eventKinds()) {}
  std::string_view name() const override { return "second_reading"; }
  uint32_t eventKinds() const override { return wanted_ | (wanted_ != 0 ? LaunchedKernels::kEvents : 0); }

  void onAlloc(const Block &block, AllocCause cause, uint64_t time_ns) override {
    const BlockNumber number = numbers_.begin(block.id);
    if (next_ == late_.size() || late_[next_].first != number)
      return reader_.onAlloc(run_, block, number, cause, time_ns);
    for (; next_ + 1 != late_.size() && late_[next_ + 1].first == number; ++next_)
      continue;
    Block later = block;
    later.cohort = late_[next_++].second;
    later.site = run_.cohorts[later.cohort].site;
    reader_.onAlloc(run_, later, number, cause, time_ns);
  }
  void onFree(const Block &block, FreeCause cause, uint64_t time_ns) override {
    reader_.onFree(run_, block, numbers_.of(block.id), cause, time_ns);
  }
  void onUse(const Block &block, const Use &use) override { reader_.onUse(run_, block, numbers_.of(block.id), use); }
  void onEvent(const StreamEvent &event, SiteId site) override {
    run_.kernels.onEvent(event, run_.catalog.labels());
    if (wanted_ & abi::enabledBit(event.event.header().kind))
      reader_.onEvent(run_, event, site);
  }

private:
  ReadRun &run_;
  BlockReader &reader_;
  BlockNumbers numbers_;
  std::vector<std::pair<BlockNumber, CohortId>> late_; // ascending
  size_t next_ = 0;                                    // in late_
  uint32_t wanted_;
};

// Both readings use one catalog. So they have equal sites, and the same events give equal numbers of cohorts.
Result<void> readAgain(ReadRun &run, SecondReading &reading, const BlockReader &reader, const Progress &progress) {
  Pipeline pipeline(run.catalog, {&reading}, {}, {}, History::LeftOut);
  for (const auto &[process, fate] : fatesOf(run.trace))
    pipeline.expectEnd(process, fate);
  for (const ProcessStart &start : run.trace.processes())
    pipeline.setPageBytes(start.process, start.page_bytes);
  ReadProgress read(progress, run.trace.eventCount());
  MSL_TRY(run.trace.forEachEvent(Reading::Ahead, [&](const StreamEvent &event) {
    read.onEvent();
    pipeline.apply(event);
    return reader.goesOn();
  }));
  pipeline.finish();
  return {};
}

} // namespace

Result<Report> readBlocks(const std::filesystem::path &path, BlockReader &reader, const Progress &progress,
                          const std::function<void()> &reading_again) {
  auto owned = std::make_unique<LateCohorts>();
  LateCohorts &late = *owned;
  Analyzers more;
  more.push_back(std::move(owned));
  ReportQuestion question;
  reader.ask(question);
  return analyzeRun(path, question, progress, std::move(more),
                    [&](const Report &report, const TraceReader &trace, RunAnalysis &analysis) -> Result<void> {
                      if (reading_again)
                        reading_again();
                      ReadRun run{report, trace, analysis.pipeline.liveSet().cohorts(), analysis.catalog};
                      SecondReading reading(run, reader, late.take());
                      reader.begin(run);
                      MSL_TRY(readAgain(run, reading, reader, progress));
                      reader.end(run);
                      return {};
                    });
}

} // namespace msleaks::analysis::inline report
