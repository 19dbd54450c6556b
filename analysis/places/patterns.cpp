#include "analysis/places/patterns.h"

#include "analysis/base/files.h"
#include "analysis/base/text.h"
#include "analysis/places/place.h"
#include "analysis/places/symbolizer.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>

namespace msleaks::analysis::inline places {
namespace {

constexpr uintmax_t kMostBytes = 16 << 20;

Error wrongLine(std::string_view file, size_t line, std::string_view why) {
  return {fmt::format("{}:{}: {}", file, line, why), ExitStatus::Usage};
}

} // namespace

Pattern::Pattern(std::string_view text) : from_begin_(text.starts_with('^')) {
  text.remove_prefix(from_begin_ ? 1 : 0);
  to_end_ = text.ends_with('$');
  text.remove_suffix(to_end_ ? 1 : 0);
  for (;;) {
    const size_t star = text.find('*');
    pieces_.emplace_back(text.substr(0, star));
    if (star == std::string_view::npos)
      return;
    text.remove_prefix(star + 1);
  }
}

// Uses the first match of each piece, because then the most text is left for the other pieces. With `$`, the last piece
// must be at the end.
bool Pattern::matches(std::string_view name) const {
  if (name.empty() || (from_begin_ && !name.starts_with(pieces_.front())))
    return false;
  if (pieces_.size() == 1 && to_end_)
    return from_begin_ ? name == pieces_.front() : name.ends_with(pieces_.front());
  const size_t last = to_end_ ? pieces_.size() - 1 : pieces_.size();
  for (size_t i = 0; i < last; ++i) {
    const size_t at = name.find(pieces_[i]);
    if (at == std::string_view::npos)
      return false;
    name.remove_prefix(at + pieces_[i].size());
  }
  return !to_end_ || name.ends_with(pieces_.back());
}

bool Pattern::matchesCall(const Site &call) const {
  const auto matchesFrame = [&](std::string_view function, std::string_view file) {
    return matches(file) || matches(function) || (function.starts_with("_Z") && matches(demangle(function)));
  };
  return matches(call.library) || matchesFrame(call.function, call.file) || matches(call.callee) ||
         std::any_of(call.inlined_at.begin(), call.inlined_at.end(),
                     [&](const InlineFrame &frame) { return matchesFrame(frame.function, frame.file); });
}

Result<std::vector<SuppressionRule>> parseSuppressions(std::string_view text, std::string_view file) {
  constexpr std::string_view kKind = "leak:";
  std::vector<SuppressionRule> rules;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty() || line.starts_with('#'))
      continue;
    if (line.find('\0') != std::string_view::npos || !line.starts_with(kKind))
      return tl::make_unexpected(wrongLine(file, number, "a rule is `leak:PATTERN`"));
    if (line.size() == kKind.size())
      return tl::make_unexpected(wrongLine(file, number, "the pattern is empty: it would suppress every leak"));
    rules.push_back({Pattern(line.substr(kKind.size())), fmt::format("{}:{}: {}", file, number, line)});
  }
  return rules;
}

Result<std::vector<SuppressionRule>> readSuppressions(const std::filesystem::path &file) {
  std::error_code failed;
  const std::ifstream in(file, std::ios::binary);
  if (!in || !std::filesystem::is_regular_file(file, failed))
    return tl::make_unexpected(
        Error{fmt::format("{}: no file of suppressions that can be read", file.string()), ExitStatus::BadInput});
  if (std::filesystem::file_size(file, failed) > kMostBytes)
    return tl::make_unexpected(
        Error{fmt::format("{}: too large for a file of suppressions", file.string()), ExitStatus::BadInput});
  return parseSuppressions(readText(file), file.filename().string());
}

const SuppressionRule *ruleFor(SiteCatalog &catalog, SiteId site, const std::vector<SuppressionRule> &rules) {
  if (rules.empty())
    return nullptr;
  const CallPath path = shownPath(catalog, site);
  for (const SuppressionRule &rule : rules)
    for (const SiteId call : path.calls)
      if (rule.pattern.matchesCall(catalog.describe(call)))
        return &rule;
  return nullptr;
}

} // namespace msleaks::analysis::inline places
