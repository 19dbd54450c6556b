#include "text_parts.h"

#include <memory>

namespace msleaks::analysis {

void writeHandles(TextTable &table, const std::vector<HandleLine> &handles) {
  if (handles.empty())
    return;
  Section section{"handles",
                  "Handles never given back",
                  {{"count", Unit::Count}, {"kind", Unit::Text}, {"place", Unit::Place}},
                  {}};
  for (const HandleLine &line : handles)
    section.rows.push_back(
        {line.count, std::string(abi::nameOf(line.kind)), std::make_shared<const SiteText>(line.site)});
  writeSection(table, section);
}

} // namespace msleaks::analysis
