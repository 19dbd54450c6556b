// A user's patterns on the calls of a path. They say which leaks are harmless, and which places a report shows.
//
// A file of suppressions has one rule in each line, as in LeakSanitizer: leak:PATTERN. A rule is for blocks whose calls
// have PATTERN in the name of a function, a source file or a library. `*` stands for any text, `^` and `$` for the
// begin and the end of the name. Empty lines and lines that begin with # are ignored.
#pragma once

#include "analysis/base/result.h"
#include "analysis/places/site_catalog.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace msleaks::analysis::inline places {

class Pattern {
public:
  explicit Pattern(std::string_view text);
  bool matches(std::string_view name) const;
  // If the compiler has mangled a function's name, compares the mangled and the demangled name.
  bool matchesCall(const Site &) const;

private:
  std::vector<std::string> pieces_; // the parts between the stars
  bool from_begin_, to_end_ = false;
};

struct SuppressionRule {
  Pattern pattern;
  std::string reason; // "FILE:LINE: leak:PATTERN"
};

// Reads the rules of a text. `file` is its name in reasons and errors. A line that is no rule is a usage error.
Result<std::vector<SuppressionRule>> parseSuppressions(std::string_view text, std::string_view file);
Result<std::vector<SuppressionRule>> readSuppressions(const std::filesystem::path &);

// Returns the first rule for blocks of this site, or null.
const SuppressionRule *ruleFor(SiteCatalog &, SiteId, const std::vector<SuppressionRule> &);

} // namespace msleaks::analysis::inline places
