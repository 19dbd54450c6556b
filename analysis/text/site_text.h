// Writes a site in the columns of a table, and as JSON. Text has plain names (plainName), and JSON has whole names.
#pragma once

#include "analysis/places/site_text.h"

#include <cstdint>
#include <iosfwd>
#include <string>

namespace msleaks::analysis::inline text {

// Writes one JSON object (docs/report.md) without a line break.
void writeSiteJson(std::ostream &, const SiteText &);

// Returns for example "src/net.cpp:12:7", for the caller of a hook "libfoo.so+0x1a2b", or "(unknown place)". It has at
// most `columns`: a long path loses its beginning. Control characters are escaped.
std::string placeOf(const SiteText &, size_t columns);
// Returns the name of a function. A long name loses parameters, template arguments and namespaces, in this order. If
// the rest is still too long, it is cut in the middle.
std::string shortFunction(const std::string &function, size_t columns);
// Returns for example "in net::grow -> weights (float)"; empty: nothing is known.
std::string nameOf(const SiteText &, size_t columns);
// Returns the place and the name on one line. If there is a name, a long place takes half of the line, or as much as
// the name leaves.
std::string placeAndNameOf(const SiteText &, size_t columns);
// Returns where the user's own code led to a site in a system header, as far as inlined calls show it: "from
// src/net.cpp:40:5 in net::make()". Empty: the site itself is in the user's code.
std::string userPlaceOf(const SiteText &, size_t columns);
// Returns for example "calls operator new[](unsigned long)"; empty: not known.
std::string calleeOf(const SiteText &, size_t columns);

} // namespace msleaks::analysis::inline text
