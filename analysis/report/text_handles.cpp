#include "text_parts.h"

#include "text_format.h"

#include <algorithm>
#include <fmt/format.h>

namespace msleaks::analysis {

void writeHandles(TextTable &table, const std::vector<HandleLine> &handles) {
  if (handles.empty() || table.style().top == 0)
    return;
  const size_t shown = std::min(handles.size(), table.style().top);
  size_t count_width = 8, kind_width = 4;
  for (const HandleLine &line : std::span(handles).first(shown)) {
    count_width = std::max(count_width, countText(line.count).size() + 1);
    kind_width = std::max(kind_width, std::string_view(abi::nameOf(line.kind)).size());
  }
  const size_t indent = count_width + kind_width + 4;
  table.heading("Handles never given back");
  table.line(fmt::format("{:>{}}  {:<{}}  place", "count", count_width, "kind", kind_width));
  for (const HandleLine &line : std::span(handles).first(shown)) {
    const TableRow row = rowOf(line, table.columns() - std::min(indent, table.columns() / 2));
    table.line(fmt::format("{:>{}}  {:<{}}  {}", countText(line.count), count_width, abi::nameOf(line.kind), kind_width,
                           row.text));
    for (const std::string &more : row.more)
      table.line(std::string(indent, ' ') + more);
  }
  if (shown == handles.size())
    return;
  uint64_t others = 0;
  for (const HandleLine &line : std::span(handles).subspan(shown))
    others += line.count;
  table.line(fmt::format("{:>{}}  {:<{}}  {} more places", countText(others), count_width, "", kind_width,
                         countText(handles.size() - shown)));
}

} // namespace msleaks::analysis
