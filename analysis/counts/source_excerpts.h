// The lines of the source that graphs name, and those around them, as they are on this machine now.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace msleaks::analysis::inline counts {

using LinesByFile = std::map<std::string, std::set<uint32_t>>;

struct SourceLines {
  uint32_t first = 1;
  std::vector<std::string> lines; // without their ends
};

struct SourceExcerpt {
  std::string file; // as the graphs name it
  std::vector<SourceLines> parts;
  std::string missing; // why there is nothing; empty: there is
  bool is_changed = false;
};

// One a file, in the order of their names. Lines near to each other are one part with what is between them. Changed:
// the file was written after `since`.
std::vector<SourceExcerpt> excerptsOf(const LinesByFile &wanted,
                                      std::optional<std::filesystem::file_time_type> since = {});

} // namespace msleaks::analysis::inline counts
