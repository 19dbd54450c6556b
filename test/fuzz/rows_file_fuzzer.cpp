// Fuzzes the parser of rows files. An accepted row has a name, and is the same after it was written and parsed.
#include "rows_file.h"

#include <cstdlib>

using namespace msleaks;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size) {
  const std::string_view text(reinterpret_cast<const char *>(bytes), size);
  const passes::RowsResult result = passes::parseRows(text, "fuzz");
  if (!result.error.empty() && !result.rows.empty())
    std::abort();
  for (const auto &[name, row] : result.rows) {
    passes::UserRow again;
    if (row.wrapper && !name.empty()) // a wrapper's row has only a name
      continue;
    if (name.empty() || !passes::parseRow(passes::rowText(row.symbol), again).empty() || again.symbol != row.symbol)
      std::abort();
  }
  return 0;
}
