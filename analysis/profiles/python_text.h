// Texts as Python writes them in the pickles of its first protocols: on a line of their own.
#pragma once

#include <string>
#include <string_view>

namespace msleaks::analysis::profiles {

// Undoes repr() of bytes, between its quotes.
std::string fromRepr(std::string_view line);
// Undoes the codec raw-unicode-escape; the result is UTF-8.
std::string fromRawUnicode(std::string_view line);

} // namespace msleaks::analysis::profiles
