// The owner of blocks.
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

} // namespace msleaks::analysis::inline live
