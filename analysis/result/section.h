// A table of a result: what text, JSON and pages draw without knowing what is in it.
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

// How the values of rows with the same keys become one.
enum class Fold : uint8_t {
  Key,     // tells rows apart
  Sum,     // also its total
  Largest, // also its total
  First,   // says more about the key
};

struct Column {
  std::string name; // as in JSON: bytes, count, oldest_age_ns, …
  Unit unit = Unit::Count;
  Fold fold = Fold::Sum;
  bool operator==(const Column &) const = default;
};

// Sites are shared between rows and findings; two of the same text are equal.
using Cell = std::variant<std::monostate, uint64_t, double, std::string, std::shared_ptr<const SiteText>>;

struct Section {
  std::string name;  // stable, for programs: "allocations"
  std::string title; // for people
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows; // a cell for each column
  bool in_text = true;                 // else only in the forms for programs
  bool is_grouping = false;            // by what the user asked for: text shows it instead of the lists of places
  bool is_users_own = false;           // of an analyzer that the user named: the first screen shows it, too
  bool compares = false;               // values of the first column: with a single one, text leaves the section out

  // A cell for each column; nothing where a column has no total.
  std::vector<Cell> totals() const;
  // The rows of another process' or rank's section of the same name and columns, with these.
  Section &operator+=(const Section &);
};

} // namespace msleaks::analysis::inline result
