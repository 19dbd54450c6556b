// Writes each text of a profile as one line of UTF-8, because LNT's format can hold nothing else.
#pragma once

#include <string>
#include <string_view>

namespace msleaks::analysis::profiles {

// Whether the text needs no escapes: it is valid UTF-8 on one line.
bool isPlain(std::string_view text);

// Writes `\\` for a backslash, `\n` for the end of a line, and `\xHH` for a byte that is not valid UTF-8.
std::string escaped(std::string_view text);
// Undoes escaped(). Other texts stay as they are.
std::string unescaped(std::string_view text);

// Returns the text for a message: cut short, with escapes for all characters that could control a terminal.
std::string shown(std::string_view text);

// The first protocols of Python's pickle write each text on a line of its own, in one of these two forms.

// Undoes repr() of bytes. `line` is the text between the quotes.
std::string fromRepr(std::string_view line);
// Undoes the codec raw-unicode-escape. The result is UTF-8.
std::string fromRawUnicode(std::string_view line);

} // namespace msleaks::analysis::profiles
