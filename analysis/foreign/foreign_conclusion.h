// Gives a user's analyzer the functions that conclude() may call. Stores its findings and tables until conclude() has
// succeeded.
#pragma once

#include "analysis/findings/conclusion.h"
#include "msleaks/abi/analyzer.h"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline foreign {

class ForeignConclusion {
public:
  // The conclusion must outlive this object.
  ForeignConclusion(std::string analyzer, Conclusion &);
  const analyzer::Host &host() const { return host_; }
  // Adds everything that was stored to the conclusion.
  void commit();

private:
  using Refusal = std::optional<std::string>;
  struct NamedPlace {
    SiteText text;
    analyzer::Place place; // its texts point into `text`
  };

  const analyzer::Place *placeOf(SiteId);
  const char *keep(std::string text);
  bool hasGroup(uint32_t group) const { return group != 0 && group < conclusion_.cohorts.size(); }
  bool hasSite(uint64_t site) const { return site < conclusion_.catalog.size(); }
  Account accountOf(uint32_t group) const;
  Refusal addFinding(const analyzer::FindingView &);
  Refusal addTable(const analyzer::TableView &);
  Refusal toCell(const analyzer::Value &, Cell &);
  Refusal wrongGroups(const analyzer::FindingView &) const;
  Absence absenceOf(const analyzer::FindingView &) const;

  std::string analyzer_;
  Conclusion &conclusion_;
  analyzer::Host host_;
  std::map<Place::Key, NamedPlace> places_; // elements do not move
  std::map<uint32_t, const analyzer::Place *> places_of_sites_;
  std::deque<std::string> texts_; // texts that the analyzer asked for
  std::string refusal_;           // refusal of the last call
  std::vector<std::pair<Draft<Finding>, Absence>> findings_;
  std::vector<Section> sections_;
};

} // namespace msleaks::analysis::inline foreign
