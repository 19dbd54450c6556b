// A user's own rows: allocators that symbols.def does not know, in a text file (docs/pass.md). Needs nothing of LLVM.
//
//   # comment
//   alloc my_alloc  result=return size=0 count=1 free=my_free
//   alloc pool_get  result=out(0) size=1 free=pool_put heap=device
//   free  my_free   address=0
//   free  pool_put  address=1
//   wrapper my_strdup
//
// Rows that belong together by free= describe one heap. A row that does not name the heap takes it from the others.
#pragma once

#include "msleaks/abi/symbols.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace msleaks::passes {

struct UserRow {
  abi::Symbol symbol; // `name` and `partner` stay empty: the row owns its strings
  std::string free;   // linkage name of the function that gives such a block back
  bool names_heap = false;
  bool wrapper = false; // takes blocks for its caller; nothing else is said
  unsigned line = 0;
};

// Rows by linkage name; std::map keeps the address of a row when others are added.
using UserRows = std::map<std::string, UserRow, std::less<>>;

struct RowsResult {
  UserRows rows;
  std::string error; // "file:line: what is wrong", empty when all is well
};

RowsResult parseRows(std::string_view text, std::string_view file);

// The fields of one row (`result=return size=0 …`), as they also stand in an annotation. Values that `fields` does not
// name stay as they are in `row`. Returns what is wrong, or an empty string.
std::string parseRowFields(const std::vector<std::string_view> &fields, UserRow &row);

// Reads the same in one text, with the kind first and without a name: "alloc heap=pool size=0 count=1". rowText is its
// inverse for all that a symbol needs (not for the partner).
std::string parseRow(std::string_view text, UserRow &row);
std::string rowText(const abi::Symbol &symbol);

// An empty row of this kind.
abi::Symbol emptyRow(abi::Verb verb);

} // namespace msleaks::passes
