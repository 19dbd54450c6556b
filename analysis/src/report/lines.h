// Turns results of analyzers, which speak of SiteIds, into the lines of a report: described, grouped by place, sorted.
#pragma once

#include "place.h"
#include "suppressions.h"

#include "msleaks/analysis/report.h"
#include "msleaks/analysis/site_catalog.h"

#include <memory>
#include <unordered_map>

namespace msleaks::analysis {

class Lines {
public:
  Lines(SiteCatalog &catalog, std::span<const ReportProcess> processes)
      : catalog_(catalog), places_(catalog), processes_(processes) {}

  PeakReport peak(const PeakResult &);
  // Fills leaks, suppressed and alive.
  void remains(const LeakResult &, Report &);

private:
  // A list whose paths nobody shows does without them: a program like PyTorch has 200,000.
  enum class Paths { Shown, LeftOut };
  std::vector<SiteLine> sitesOf(const Peak &, Paths);
  // Sums of blocks by what `nameOf(share)` says.
  template <class Name> std::vector<NamedLine> groupsOf(const Peak &, Name nameOf);
  void fill(SiteLine &, const Place &, std::vector<SiteShare> shares, Paths);
  void addCalls(PathLine &);
  template <class Line> void showPaths(std::vector<Line> &);
  template <class Line> void finishList(std::vector<Line> &);
  void finishLists(RemainsReport &);
  void add(const std::vector<SiteRemains> &, const char *reason, RemainsReport &);
  std::string childOf(const Place &);
  std::string_view typeOf(const Site &innermost, const Place &);
  const Suppression *suppressionOfRemains(const SiteRemains &);
  void addLeaks(const std::vector<SiteRemains> &, Report &);

  std::shared_ptr<const SiteText> textOfCall(SiteId);

  SiteCatalog &catalog_;
  Places places_;
  std::span<const ReportProcess> processes_;
  std::unordered_map<SiteId, std::shared_ptr<const SiteText>> texts_; // of calls in paths
};

} // namespace msleaks::analysis
