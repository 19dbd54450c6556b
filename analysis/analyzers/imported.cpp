// Imported memory: which lines open memory of other processes or drivers, and how often it is used. It is no memory of
// the program, so it is in no total, and no finding is about it.
#include "analysis/analyzers/registry.h"
#include "analysis/base/tables.h"
#include "analysis/live/use.h"

#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline analyzers {
namespace {

struct Opened {
  BlockSum sum;
  uint64_t uses = 0, open_at_end = 0;
  void operator+=(const Opened &other) {
    sum += other.sum;
    uses += other.uses;
    open_at_end += other.open_at_end;
  }
};

class ImportedAnalyzer final : public Analyzer {
public:
  std::string_view name() const override { return "imported"; }
  bool wants(abi::Heap heap) const override { return heap == abi::Heap::Imported; }
  void onAlloc(const Block &block, AllocCause cause, uint64_t) override {
    if (cause != AllocCause::Restored)
      of(block).sum += {block.size, 1};
  }
  void onUse(const Block &block, const Use &) override { ++of(block).uses; }
  void onFree(const Block &block, FreeCause cause, uint64_t) override {
    if (cause == FreeCause::Remainder) // comes back with its real size
      takeFrom(of(block), block);
    else
      of(block).open_at_end += isEnd(cause);
  }
  void onRetarget(const Block &block, const Block &before, uint64_t) override {
    takeFrom(of(before), before);
    of(block).sum += {block.size, 1};
  }
  void conclude(Conclusion &) const override;

private:
  Opened &of(const Block &block) { return elementAt(opened_, block.cohort.index); }
  static void takeFrom(Opened &opened, const Block &block) {
    opened.sum.bytes -= block.size;
    --opened.sum.count;
  }

  std::vector<Opened> opened_; // by cohort
};

void ImportedAnalyzer::conclude(Conclusion &conclusion) const {
  std::vector<CohortShare> shares;
  std::map<SiteId, Opened> by_site;
  for (uint32_t index = 1; index < opened_.size(); ++index) {
    const Opened &opened = opened_[index];
    if (opened.sum.count == 0)
      continue;
    shares.push_back({CohortId{index}, opened.sum.bytes, opened.sum.count});
    by_site[conclusion.cohorts[CohortId{index}].site] += opened;
  }
  Section section{"imported",
                  "Memory of other processes and drivers",
                  {{"place", Unit::Place, Fold::Key},
                   {"bytes", Unit::Bytes},
                   {"count", Unit::Count},
                   {"uses", Unit::Count},
                   {"open_at_end", Unit::Count}},
                  {}};
  for (const PlaceGroup &group : conclusion.lines.byPlace(bySite(shares, conclusion.cohorts))) {
    Opened all;
    for (const SiteShare &share : group.shares)
      all += by_site[share.site];
    section.rows.push_back({std::make_shared<const SiteText>(textOf(conclusion.catalog, group.place)), all.sum.bytes,
                            all.sum.count, all.uses, all.open_at_end});
  }
  if (!section.rows.empty())
    conclusion.result.sections.push_back(std::move(section));
}

} // namespace

MSL_REGISTER_ANALYZER(imported, ImportedAnalyzer)

} // namespace msleaks::analysis::inline analyzers
