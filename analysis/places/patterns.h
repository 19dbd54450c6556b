// Patterns on the calls of a path: which leaks a user calls harmless, and which places a report is to show.
//
// A file of suppressions has a rule a line, as LeakSanitizer's: leak:PATTERN. A rule holds for blocks with PATTERN in
// the name of a function, a source file or a library of any frame of their calls. `*` stands for any text, `^` and `$`
// for the name's begin and end. Lines that begin with # and empty ones say nothing.
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
  // Of a function that the compiler has mangled, both names count.
  bool matchesCall(const Site &) const;

private:
  std::vector<std::string> pieces_; // between the stars
  bool from_begin_, to_end_ = false;
};

struct SuppressionRule {
  Pattern pattern;
  std::string reason; // "FILE:LINE: leak:PATTERN"
};

// The rules of a text; `file` names it in reasons and errors. A line that is no rule is an error of the usage.
Result<std::vector<SuppressionRule>> parseSuppressions(std::string_view text, std::string_view file);
Result<std::vector<SuppressionRule>> readSuppressions(const std::filesystem::path &);

// The first rule that holds for blocks of the site; null: none.
const SuppressionRule *ruleFor(SiteCatalog &, SiteId, const std::vector<SuppressionRule> &);

} // namespace msleaks::analysis::inline places
