// Turns sums by SiteId into the lines of a report: grouped by place, described, sorted.
#pragma once

#include "analysis/live/cohort_sums.h"
#include "analysis/places/place.h"
#include "analysis/places/site_catalog.h"
#include "analysis/result/result.h"

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace msleaks::analysis::inline result {

// Sums of cohorts by site: all threads, processes and devices together.
struct SiteShare {
  SiteId site;
  uint64_t bytes = 0, count = 0;
  bool operator==(const SiteShare &) const = default;
};
struct SiteRemains : Remains { // of one heap
  SiteId site;
};

// Ascending by site.
std::vector<SiteShare> bySite(const std::vector<CohortShare> &, const Cohorts &);
// Ascending by site and heap.
std::vector<SiteRemains> bySite(const std::vector<CohortRemains> &, const Cohorts &);

// The sites of one place.
struct PlaceGroup {
  Place place;
  std::vector<SiteShare> shares;

  BlockSum sum() const {
    BlockSum sum;
    for (const SiteShare &share : shares)
      sum += {share.bytes, share.count};
    return sum;
  }
};

// A line whose paths are not named yet.
template <class Line> struct Draft {
  Line line;
  std::vector<SiteId> paths; // as line.paths
};

class Lines {
public:
  Lines(SiteCatalog &catalog, std::span<const ReportProcess> processes)
      : catalog_(catalog), places_(catalog), processes_(processes) {}

  // A list whose paths nobody shows does without them: a program like PyTorch has 200,000.
  enum class Paths { Shown, LeftOut };

  std::vector<PlaceGroup> byPlace(std::span<const SiteShare>);
  // The line's own part of `to`: all but what a LeakLine or a Finding adds.
  void describe(const PlaceGroup &, Paths, Draft<SiteLine> &to);
  template <class Line> Draft<Line> lineOf(const PlaceGroup &group, Paths paths) {
    Draft<SiteLine> described;
    describe(group, paths, described);
    Draft<Line> draft;
    static_cast<SiteLine &>(draft.line) = std::move(described.line);
    draft.paths = std::move(described.paths);
    return draft;
  }
  // Own code first, that of the first process before that of its children; then most bytes, then by place.
  template <class Line> std::vector<Line> sorted(std::vector<Draft<Line>>);
  // As they are.
  template <class Line> std::vector<Line> named(std::vector<Draft<Line>>);

  std::vector<SiteLine> bySite(std::span<const SiteShare>, Paths);
  std::vector<NamedLine> byType(std::span<const SiteShare>);
  std::vector<NamedLine> byOwner(std::span<const SiteShare>);

  // Blocks that were left, each place and heap a line. `reason`: why they are harmless; then the place is the innermost
  // call, since what is harmless is the library's, whoever called it.
  void addRemains(const std::vector<SiteRemains> &, const char *reason, RemainsReport &);

  // The type of a site's blocks; empty: not known.
  std::string_view typeOf(SiteId site);
  Places &places() { return places_; }
  SiteCatalog &catalog() { return catalog_; }

private:
  template <class Name> std::vector<NamedLine> groupsOf(std::span<const SiteShare>, Name nameOf);
  void addCalls(SiteId, PathLine &);
  std::string childOf(const Place &);
  SiteId callOfLibc(SiteId); // of a block that libc asked for: the call that brought the program into libc
  std::shared_ptr<const SiteText> textOfCall(SiteId);

  SiteCatalog &catalog_;
  Places places_;
  std::span<const ReportProcess> processes_;
  std::unordered_map<SiteId, std::shared_ptr<const SiteText>> texts_; // of calls in paths
};

extern template std::vector<SiteLine> Lines::sorted(std::vector<Draft<SiteLine>>);
extern template std::vector<LeakLine> Lines::sorted(std::vector<Draft<LeakLine>>);
extern template std::vector<HandleLine> Lines::sorted(std::vector<Draft<HandleLine>>);
extern template std::vector<Finding> Lines::named(std::vector<Draft<Finding>>);

} // namespace msleaks::analysis::inline result
