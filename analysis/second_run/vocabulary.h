// The names on which the diagnosis depends. They say which functions matter, and what role a library has.
#pragma once

#include "analysis/base/result.h"
#include "analysis/second_run/process_view.h"

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace msleaks::analysis::inline second_run {

enum class Role { Ordinary, System, Own, Driver, Sanitizer };
Role roleOf(std::string_view path);

// Whether the table of functions has a row for the function. If so, the plugin sees its calls in code that it compiles.
bool isRow(const std::string &symbol);
// Describes a function of memory_names.def in words. Null: the table does not have the function.
const char *driverFunction(const std::string &symbol);
const char *systemMemory(const std::string &symbol);
// allocatorMarkedBy() returns the allocator in a file that defines this symbol, and allocatorCalledBy() the allocator
// to which the function belongs. Null: none.
const char *allocatorMarkedBy(std::string_view symbol);
const char *allocatorCalledBy(const std::string &symbol);
// Returns a note about a file that defines this symbol and has a pool, or null.
const char *poolNote(std::string_view symbol);

// The functions with hooks, which come before the functions of libraries.
class HookedSymbols {
public:
  HookedSymbols() = default;
  explicit HookedSymbols(std::set<std::string> symbols, std::set<std::string> libraries = {},
                         std::set<std::string> of_drivers = {})
      : symbols_(std::move(symbols)), libraries_(std::move(libraries)), of_drivers_(std::move(of_drivers)) {}
  // Collects the exports of our library that the table of functions and memory_names.def know, and all exports of the
  // user's own libraries of hooks.
  static Result<HookedSymbols> of(const std::filesystem::path &hooks, const std::vector<std::string> &others);

  bool holds(const std::string &symbol) const { return symbols_.contains(symbol); }
  // Whether a hook has this name. Some hooks record no memory, such as those of streams, contexts and waits.
  bool hooks(const std::string &symbol) const { return holds(symbol) || of_drivers_.contains(symbol); }
  // Whether a library of this path has hooks.
  bool areIn(const std::string &path) const { return roleOf(path) == Role::Own || libraries_.contains(path); }

private:
  std::set<std::string> symbols_;
  std::set<std::string> libraries_;  // paths of the user's own libraries of hooks
  std::set<std::string> of_drivers_; // further exports of our library that drivers have, too
};

// Where the calls of a function lead.
enum class Binding {
  Missing, // no image has the function
  Unbound, // the function was not called yet; the dynamic linker looks for it at the first call
  Hook,
  Own,   // the image itself
  Other, // another image
  Nowhere
};

struct Bound {
  Binding binding{};
  const Image *to = nullptr; // for Own and Other
};

// Returns to what the image's slot for a function is bound.
Bound boundTo(const ProcessView &, const HookedSymbols &, const Image &, const LibraryFile::Slot &);

// Returns the C library of the program itself, or null if it is not known.
const Image *programsLibc(const ProcessView &);
inline constexpr char kLibcEntry[] = "__libc_start_main"; // every program has a slot for this function

} // namespace msleaks::analysis::inline second_run
