// Converts sums by SiteId to the lines of a report: groups them by place, describes the places, and sorts the lines.
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

// Sums of cohorts by site, over all threads, processes and devices.
struct SiteShare {
  SiteId site;
  uint64_t bytes = 0, count = 0;
  bool operator==(const SiteShare &) const = default;
};
struct SiteRemains : Remains { // of one heap
  SiteId site;
};

// In ascending order of sites.
std::vector<SiteShare> bySite(const std::vector<CohortShare> &, const Cohorts &);
// In ascending order of sites and heaps.
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

// A line whose paths do not contain calls yet.
template <class Line> struct Draft {
  Line line;
  std::vector<SiteId> paths; // sites of the paths in line.paths
};

class Lines {
public:
  Lines(SiteCatalog &catalog, std::span<const ReportProcess> processes)
      : catalog_(catalog), places_(catalog), processes_(processes) {}

  // A list leaves out paths that nobody shows, because a program like PyTorch has 200,000 paths.
  enum class Paths { Shown, LeftOut };

  std::vector<PlaceGroup> byPlace(std::span<const SiteShare>);
  // Sets the fields of SiteLine in `to`. A LeakLine or a Finding has more fields, which it does not set.
  void describe(const PlaceGroup &, Paths, Draft<SiteLine> &to);
  template <class Line> Draft<Line> lineOf(const PlaceGroup &group, Paths paths) {
    Draft<SiteLine> described;
    describe(group, paths, described);
    Draft<Line> draft;
    static_cast<SiteLine &>(draft.line) = std::move(described.line);
    draft.paths = std::move(described.paths);
    return draft;
  }
  // Sorts own code first, then the first process before its children, then by bytes, then by place. Names the paths.
  template <class Line> std::vector<Line> sorted(std::vector<Draft<Line>>);
  // Names the paths, and keeps the order.
  template <class Line> std::vector<Line> named(std::vector<Draft<Line>>);

  std::vector<SiteLine> bySite(std::span<const SiteShare>, Paths);
  std::vector<NamedLine> byType(std::span<const SiteShare>);
  std::vector<NamedLine> byOwner(std::span<const SiteShare>);

  // Adds a line for the remaining blocks of each place and heap. `reason` says why they are harmless. Then the place is
  // the innermost call, because the library keeps these blocks, whoever called it.
  void addRemains(const std::vector<SiteRemains> &, const char *reason, RemainsReport &);

  // The type of a site's blocks; empty = not known.
  std::string_view typeOf(SiteId site);
  Places &places() { return places_; }
  SiteCatalog &catalog() { return catalog_; }

private:
  template <class Name> std::vector<NamedLine> groupsOf(std::span<const SiteShare>, Name nameOf);
  void addCalls(SiteId, PathLine &);
  std::string childOf(const Place &);
  SiteId callOfLibc(SiteId); // the call from the program into libc, for a block that libc allocated
  std::shared_ptr<const SiteText> textOfCall(SiteId);

  SiteCatalog &catalog_;
  Places places_;
  std::span<const ReportProcess> processes_;
  std::unordered_map<SiteId, std::shared_ptr<const SiteText>> texts_; // texts of calls in paths
};

extern template std::vector<SiteLine> Lines::sorted(std::vector<Draft<SiteLine>>);
extern template std::vector<LeakLine> Lines::sorted(std::vector<Draft<LeakLine>>);
extern template std::vector<HandleLine> Lines::sorted(std::vector<Draft<HandleLine>>);
extern template std::vector<Finding> Lines::named(std::vector<Draft<Finding>>);

} // namespace msleaks::analysis::inline result
