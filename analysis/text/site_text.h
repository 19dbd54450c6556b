// A site's text in the columns of a table, and as JSON. Text has plain names (plain_name.h), JSON has whole ones.
#pragma once

#include "analysis/places/site_text.h"

#include <cstdint>
#include <iosfwd>
#include <string>

namespace msleaks::analysis::inline text {

// One JSON object (docs/report.md), without a line break.
void writeSiteJson(std::ostream &, const SiteText &);

// "src/net.cpp:12:7"; of a hook's caller "libfoo.so+0x1a2b"; "(unknown place)". At most `columns` wide: a long path
// loses its beginning. Control characters are escaped.
std::string placeOf(const SiteText &, size_t columns);
// A function's name. A long one loses parameters, template arguments and namespaces, in this order; its own name stays,
// and is cut in the middle where even that is too long.
std::string shortFunction(const std::string &function, size_t columns);
// "in net::grow -> weights (float)"; empty when nothing is known.
std::string nameOf(const SiteText &, size_t columns);
// Both on one line. A place takes half of it at most if a name follows, and else as much as the name leaves.
std::string placeAndNameOf(const SiteText &, size_t columns);
// Where the user's own code led to a site in a header of the system, as far as the inline chain says:
// "from src/net.cpp:40:5 in net::make()". Empty for a site that is in the user's code itself.
std::string userPlaceOf(const SiteText &, size_t columns);
// "calls operator new[](unsigned long)"; empty when not known.
std::string calleeOf(const SiteText &, size_t columns);

} // namespace msleaks::analysis::inline text
