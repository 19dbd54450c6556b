// Reads the rows of dumps that msMemScope wrote, or msleaks in the same form: CSV files and databases of SQLite.
#pragma once

#include "analysis/base/result.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <istream>
#include <string>
#include <string_view>

namespace msleaks::analysis::inline importers {

// A row, with texts as the dump has them. They are valid during the call.
struct ForeignRow {
  uint64_t id = 0, time_ns = 0, size = 0, address = 0;
  uint32_t pid = 0, tid = 0;
  std::string_view event, type, name, device, attributes, python_stack, c_stack;
};

// Whether the file is a dump by its name.
bool isDumpFile(const std::filesystem::path &file);
// Calls f for each row. Reads the columns of all versions of msMemScope. An error is one line, with the number of the
// row if the file has rows.
Result<void> forEachForeignRow(const std::filesystem::path &file, const std::function<void(const ForeignRow &)> &f);
// The same for a CSV file. `name` names it in errors.
Result<void> forEachForeignRow(std::istream &, const std::string &name,
                               const std::function<void(const ForeignRow &)> &f);

} // namespace msleaks::analysis::inline importers
