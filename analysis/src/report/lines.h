// Turns results of analyzers, which speak of SiteIds, into the lines of a report: described, grouped, sorted.
#pragma once

#include "msleaks/analysis/report.h"
#include "msleaks/analysis/site_catalog.h"

namespace msleaks::analysis {

class Lines {
public:
  explicit Lines(SiteCatalog &catalog) : catalog_(catalog) {}

  PeakReport peak(const PeakResult &);
  // Fills leaks, suppressed and alive.
  void remains(const LeakResult &, Report &);

private:
  std::vector<SiteLine> sitesOf(const Peak &);
  std::vector<NamedLine> groupsOf(const Peak &, std::string_view Site::*name);
  void add(const SiteRemains &, const char *reason, RemainsReport &);

  SiteCatalog &catalog_;
};

} // namespace msleaks::analysis
