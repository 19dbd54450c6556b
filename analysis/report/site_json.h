// JSON of sites, shared by the report and the list of sites.
#pragma once

#include "analysis/report/site_text.h"

#include <nlohmann/json.hpp>
#include <ostream>

namespace msleaks::analysis {

using Json = nlohmann::ordered_json; // keys in the order of the documentation

Json jsonOf(const SiteText &);

// One frame for the call, and one for each function that it was inlined into, innermost first.
void appendFrames(const SiteText &call, Json &frames);

// `indent` < 0: one line. Bytes that are not UTF-8 become U+FFFD: names come from files that nobody vouches for.
inline void write(std::ostream &to, const Json &json, int indent) {
  to << json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

} // namespace msleaks::analysis
