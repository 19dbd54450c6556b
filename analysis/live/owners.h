// The owner of blocks, and their module of PyTorch.
#pragma once

#include "analysis/live/cohorts.h"
#include "analysis/places/site_catalog.h"

#include <string_view>

namespace msleaks::analysis::inline live {

// The name that the program has given to the owner of these blocks (msl_owner_push), or else the owner that their path
// shows. Empty if there is none. Valid while the catalog exists.
inline std::string_view ownerOf(const Cohort &cohort, SiteCatalog &catalog) {
  return cohort.owner.known() ? catalog.labels().textOf(cohort.owner) : catalog.pathOwnerOf(cohort.site);
}

// The module that the path of these blocks calls, or else the module that the blocks' node of the backward pass belongs
// to. Empty if there is none. Valid while the catalog exists.
inline std::string_view moduleOf(const Cohort &cohort, SiteCatalog &catalog) {
  const std::string_view own = catalog.moduleOf(cohort.site);
  return own.empty() && cohort.forward.known() ? catalog.moduleOf(cohort.forward) : own;
}

} // namespace msleaks::analysis::inline live
