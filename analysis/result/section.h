// A table of a result. Text, JSON and HTML pages show it without knowing its meaning.
#pragma once

#include "analysis/places/site_text.h"

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace msleaks::analysis::inline result {

enum class Unit : uint8_t { Text, Place, Count, Bytes, TimeNs, ByteSeconds };
const char *nameOf(Unit);

// How the values of rows with the same keys are combined.
enum class Fold : uint8_t {
  Key,     // identifies the row
  Sum,     // adds the values; the total is their sum
  Largest, // keeps the larger value; the total is the largest
  First,   // keeps the first value, which describes the key
};

struct Column {
  std::string name; // as in JSON: bytes, count, oldest_age_ns, …
  Unit unit = Unit::Count;
  Fold fold = Fold::Sum;
  bool operator==(const Column &) const = default;
};

// Rows and findings share sites. Two sites with the same text are equal.
using Cell = std::variant<std::monostate, uint64_t, double, std::string, std::shared_ptr<const SiteText>>;

struct Section {
  std::string name;  // for programs, never changes: "allocations"
  std::string title; // for people
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows; // a cell for each column
  bool in_text = true;                 // false: only in formats for programs
  bool is_grouping = false;            // made for --group-by: text shows it instead of the lists of places
  bool is_users_own = false;           // made by an analyzer that the user named: the first screen shows it, too
  bool compares = false; // compares values of the first column: with only one value, text leaves out the section

  // A cell for each column; empty if a column has no total.
  std::vector<Cell> totals() const;
  // Adds the rows of another process' or rank's section with the same name and columns.
  Section &operator+=(const Section &);
};

} // namespace msleaks::analysis::inline result
