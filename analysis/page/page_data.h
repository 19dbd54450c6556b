// The contents of a report's page: what the views of tools/report show (tools/report/src/data.ts).
#pragma once

#include "analysis/result/json_tree.h"
#include "analysis/result/report.h"

#include <filesystem>
#include <optional>

namespace msleaks::analysis::inline page {

// Reads lines of source from files on this machine. A file is changed if it was written after `since`.
Json pageData(const Report &, std::optional<std::filesystem::file_time_type> since);

} // namespace msleaks::analysis::inline page
