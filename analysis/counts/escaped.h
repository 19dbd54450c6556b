// Texts of a profile as one line of UTF-8, which is all that LNT's format has room for.
#pragma once

#include <string>
#include <string_view>

namespace msleaks::analysis::profiles {

// Whether it can stand in a file as it is: UTF-8 and on one line.
bool isPlain(std::string_view text);

// `\\` for a backslash, `\n` for the end of a line, `\xHH` for a byte that is no part of UTF-8.
std::string escaped(std::string_view text);
// The other way. What no rule of escaped() made stays as it is.
std::string unescaped(std::string_view text);

// For messages: short, and nothing in it that a terminal would act on.
std::string shown(std::string_view text);

// Texts as Python writes them in the pickles of its first protocols: on a line of their own.

// Undoes repr() of bytes, between its quotes.
std::string fromRepr(std::string_view line);
// Undoes the codec raw-unicode-escape; the result is UTF-8.
std::string fromRawUnicode(std::string_view line);

} // namespace msleaks::analysis::profiles
