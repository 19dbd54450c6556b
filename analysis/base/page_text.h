// Escapes texts for an HTML page. The names in a run may come from anywhere, so no text may begin or end an element.
#pragma once

#include <string>
#include <string_view>

namespace msleaks::analysis::inline base {

// For JSON inside a <script> element.
std::string escapedForScript(std::string_view json);
// For the text of an element.
std::string escapedForHtml(std::string_view text);

} // namespace msleaks::analysis::inline base
