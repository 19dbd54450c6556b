// Reads lines of source, and the lines around them, from the files that are on this machine now.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace msleaks::analysis::inline places {

using LinesByFile = std::map<std::string, std::set<uint32_t>>;

struct SourceLines {
  uint32_t first = 1;
  std::vector<std::string> lines; // without the ends of lines
};

struct SourceExcerpt {
  std::string file; // the name in the run
  std::vector<SourceLines> parts;
  std::string missing; // the reason why there are no lines; empty: there are lines
  bool is_changed = false;
};

// Returns one excerpt for each file, in the order of their names. Near lines and the lines between them are one part. A
// file is changed if it was written after `since`.
std::vector<SourceExcerpt> excerptsOf(const LinesByFile &wanted,
                                      std::optional<std::filesystem::file_time_type> since = {});

// Returns the same excerpts as a list, for an HTML page: [{file, missing, changed, parts: [{first, lines}]}].
nlohmann::ordered_json excerptsJson(const LinesByFile &wanted,
                                    std::optional<std::filesystem::file_time_type> since = {});

} // namespace msleaks::analysis::inline places
