// The names that the diagnosis turns on: which functions matter, and what a library is by its name.
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

// Whether symbols.def has a row for it: the plugin sees its calls in what it compiles.
bool isRow(const std::string &symbol);
// The API of a function of memory_names.def, in words: an accelerator's, the C library's, the kernel's. Null: none.
const char *driverFunction(const std::string &symbol);
const char *systemMemory(const std::string &symbol);
// The allocator that who defines this symbol holds, or null; the one whose own function it is.
const char *allocatorMarkedBy(std::string_view symbol);
const char *allocatorCalledBy(const std::string &symbol);
// What is to be said of who defines this symbol and has pools; null: it tells of none.
const char *poolNote(std::string_view symbol);

// The functions that stand before those of libraries.
class HookedSymbols {
public:
  HookedSymbols() = default;
  explicit HookedSymbols(std::set<std::string> symbols, std::set<std::string> libraries = {})
      : symbols_(std::move(symbols)), libraries_(std::move(libraries)) {}
  // What our library exports that symbols.def and memory_names.def know, and all that libraries of the user's own
  // export.
  static Result<HookedSymbols> of(const std::filesystem::path &hooks, const std::vector<std::string> &others);

  bool holds(const std::string &symbol) const { return symbols_.contains(symbol); }
  // Whether a library of this path has hooks.
  bool areIn(const std::string &path) const { return roleOf(path) == Role::Own || libraries_.contains(path); }

private:
  std::set<std::string> symbols_;
  std::set<std::string> libraries_; // the user's own
};

// Where the calls of an image lead.
enum class Binding {
  Missing, // nobody has the function
  Unbound, // it was not called yet: the dynamic linker looks for it then
  Hook,
  Own,   // the image itself
  Other, // another image
  Nowhere
};

struct Bound {
  Binding binding{};
  const Image *to = nullptr; // of Own and Other
};

// The content of the image's slot for a function.
Bound boundTo(const ProcessView &, const HookedSymbols &, const Image &, const LibraryFile::Slot &);

// The C library that the program itself runs with; null: not known.
const Image *programsLibc(const ProcessView &);
inline constexpr char kLibcEntry[] = "__libc_start_main"; // a program has a slot for it

} // namespace msleaks::analysis::inline second_run
