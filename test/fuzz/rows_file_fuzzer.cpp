// Rows files from arbitrary bytes. What is accepted must be complete, and survive being written and read again.
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
    if (row.wrapper && !name.empty()) // says nothing more
      continue;
    if (name.empty() || !passes::parseRow(passes::rowText(row.symbol), again).empty() || again.symbol != row.symbol)
      std::abort();
  }
  return 0;
}
