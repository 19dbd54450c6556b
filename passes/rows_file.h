// Reads a user's own rows from a text file (docs/pass.md). These rows describe allocators that msleaks' own table does
// not contain. This code does not use LLVM.
//
//   # comment
//   alloc my_alloc  result=return size=0 count=1 free=my_free
//   alloc pool_get  result=out(0) size=1 free=pool_put heap=device
//   free  my_free   address=0
//   free  pool_put  address=1
//   wrapper my_strdup
//
// An allocator has a row, and the function in its `free=` has another one. If only one of both rows names a heap, the
// other row gets the same heap.
#pragma once

#include "msleaks/abi/symbol.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace msleaks::passes {

struct UserRow {
  abi::Symbol symbol; // `name` and `partner` stay empty, since they cannot own their texts
  std::string free;   // linkage name of the function that frees the blocks
  bool names_heap = false;
  bool wrapper = false; // the function allocates blocks for its caller; then `symbol` and `free` are not used
  unsigned line = 0;
};

// Rows by linkage name. In a std::map, the address of a row stays valid when other rows are added.
using UserRows = std::map<std::string, UserRow, std::less<>>;

struct RowsResult {
  UserRows rows;
  std::string error; // "file:line: mistake"; empty: there is none
};

RowsResult parseRows(std::string_view text, std::string_view file);

// Parses the fields of one row (`result=return size=0 …`). An annotation has the same fields. A value that `fields`
// does not name stays unchanged in `row`. Returns the mistake, or an empty string.
std::string parseRowFields(const std::vector<std::string_view> &fields, UserRow &row);

// Parses a row from one text, with the kind first and without the function's name: "alloc heap=pool size=0 count=1".
// rowText writes such a text, without `free=`.
std::string parseRow(std::string_view text, UserRow &row);
std::string rowText(const abi::Symbol &symbol);

// Returns a row of this kind without positions.
abi::Symbol emptyRow(abi::Verb verb);

} // namespace msleaks::passes
