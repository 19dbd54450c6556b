// Python objects: which places made the small objects that were alive at their highest point. This is estimated from
// the sampled blocks (docs/python.md).
#include "analysis/analyzers/registry.h"
#include "analysis/live/peaks.h"
#include "analysis/live/python_estimate.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace msleaks::analysis::inline analyzers {
namespace {

class PythonObjectsAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "python_objects"; }
  bool wants(abi::Heap heap) const override { return heap == abi::Heap::Python; }
  void onAlloc(const Block &block, AllocCause, uint64_t time_ns) override {
    samples_.add(block.cohort, estimateOf(block).bytes, time_ns);
  }
  void onFree(const Block &block, FreeCause, uint64_t) override {
    samples_.remove(block.cohort, estimateOf(block).bytes);
  }
  void onRetarget(const Block &block, const Block &before, uint64_t) override {
    samples_.move(before.cohort, block.cohort, estimateOf(block).bytes, block.time_ns);
  }
  void conclude(Conclusion &) const override;

private:
  PeakTracker samples_; // bytes are estimates, counts are numbers of samples
};

void PythonObjectsAnalyzer::conclude(Conclusion &conclusion) const {
  const std::vector<CohortShare> at_peak = samples_.shares();
  if (at_peak.empty())
    return;
  std::map<SiteId, double> objects; // the blocks of a cohort were chosen at one size
  for (const CohortShare &share : at_peak) {
    const Cohort &cohort = conclusion.cohorts[share.cohort];
    objects[cohort.site] += static_cast<double>(share.count) * objectsPerSample(cohort.device);
  }
  Section section{"python_objects",
                  "Small objects of Python at their peak: about this much, by samples",
                  {{"place", Unit::Place, Fold::Key},
                   {"about_bytes", Unit::Bytes},
                   {"about_count", Unit::Count},
                   {"samples", Unit::Count}},
                  {}};
  for (const PlaceGroup &group : conclusion.lines.byPlace(bySite(at_peak, conclusion.cohorts))) {
    double count = 0;
    for (const SiteShare &share : group.shares)
      count += objects[share.site];
    const BlockSum sum = group.sum();
    section.rows.push_back({std::make_shared<const SiteText>(textOf(conclusion.catalog, group.place)), sum.bytes,
                            static_cast<uint64_t>(std::llround(count)), sum.count});
  }
  std::stable_sort(section.rows.begin(), section.rows.end(),
                   [](const auto &a, const auto &b) { return std::get<uint64_t>(a[1]) > std::get<uint64_t>(b[1]); });
  conclusion.result.sections.push_back(std::move(section));
}

} // namespace

MSL_REGISTER_ANALYZER(python_objects, PythonObjectsAnalyzer)

} // namespace msleaks::analysis::inline analyzers
