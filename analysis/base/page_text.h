// Escapes texts for an HTML page. The names in a run may come from anywhere, so no text may begin or end an element.
// The build bundles the pages themselves (tools/report).
#pragma once

#include "analysis/base/result.h"

#include <span>
#include <string>
#include <string_view>

namespace msleaks::analysis::inline base {

// For JSON inside a <script> element.
std::string escapedForScript(std::string_view json);
// For the text of an element.
std::string escapedForHtml(std::string_view text);
// Returns an error if the build could not bundle the page: then it has only one part.
Result<void> checkPage(std::span<const std::string_view> parts);

} // namespace msleaks::analysis::inline base
