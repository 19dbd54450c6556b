#include "analysis/second_run/vocabulary.h"

#include "analysis/base/text.h"
#include "analysis/places/driver_functions.h"
#include "analysis/second_run/library_file.h"
#include "msleaks/abi/symbols.h"

#include <algorithm>
#include <fnmatch.h>
#include <string>
#include <unordered_set>

namespace msleaks::analysis::inline second_run {
namespace {

struct NamedLibrary {
  std::string_view prefix;
  Role role;
};
constexpr NamedLibrary kLibraries[] = {
#define MSL_LIBRARY(prefix, role) {prefix, Role::role},
#include "known_libraries.def"
};

struct Name {
  const char *pattern;
  const char *what;
};
constexpr Name kDriverNames[] = {
#define MSL_MEMORY_NAME(pattern, what) {pattern, what},
#include "memory_names.def"
};
constexpr Name kSystemNames[] = {
#define MSL_SYSTEM_NAME(pattern, what) {pattern, what},
#include "memory_names.def"
};
constexpr Name kAllocatorMarks[] = {
#define MSL_ALLOCATOR_MARK(name, symbol) {symbol, name},
#include "allocators.def"
};
constexpr Name kAllocatorCalls[] = {
#define MSL_ALLOCATOR_CALL(name, pattern) {pattern, name},
#include "allocators.def"
};

constexpr Name kPools[] = {
#define MSL_POOL(symbol, note) {symbol, note},
#include "allocators.def"
};

// Compares the text before the first star first, because a large library has half a million names and most of them
// differ there.
bool fits(std::string_view pattern, const std::string &symbol) {
  const size_t star = pattern.find('*');
  return star == std::string_view::npos ? symbol == pattern
                                        : symbol.starts_with(pattern.substr(0, star)) &&
                                              fnmatch(std::string(pattern).c_str(), symbol.c_str(), 0) == 0;
}

template <size_t Count> const char *whatOf(const Name (&names)[Count], std::string_view symbol) {
  for (const Name &name : names)
    if (symbol == name.pattern)
      return name.what;
  return nullptr;
}

template <size_t Count> const char *firstFit(const Name (&names)[Count], const std::string &symbol) {
  for (const Name &name : names)
    if (fits(name.pattern, symbol))
      return name.what;
  return nullptr;
}

} // namespace

Role roleOf(std::string_view path) {
  const std::string_view name = baseName(path);
  for (const NamedLibrary &library : kLibraries)
    if (name.starts_with(library.prefix))
      return library.role;
  return Role::Ordinary;
}

const char *systemMemory(const std::string &symbol) { return firstFit(kSystemNames, symbol); }
const char *driverFunction(const std::string &symbol) { return firstFit(kDriverNames, symbol); }

bool isRow(const std::string &symbol) {
  static const std::unordered_set<std::string_view> rows = [] {
    std::unordered_set<std::string_view> names;
    for (const msleaks::abi::Symbol &row : msleaks::abi::kSymbols)
      names.insert(row.name);
    return names;
  }();
  return rows.contains(symbol);
}

const char *allocatorMarkedBy(std::string_view symbol) { return whatOf(kAllocatorMarks, symbol); }
const char *poolNote(std::string_view symbol) { return whatOf(kPools, symbol); }

const char *allocatorCalledBy(const std::string &symbol) { return firstFit(kAllocatorCalls, symbol); }

Result<HookedSymbols> HookedSymbols::of(const std::filesystem::path &hooks, const std::vector<std::string> &others) {
  std::set<std::string> symbols, of_drivers;
  const auto add = [](std::set<std::string> &to, const LibraryFile &file) {
    for (const auto &[symbol, definition] : file.definitions)
      if (definition.visibility != LibraryFile::Visibility::Local)
        to.insert(symbol);
  };
  add(symbols, MSL_TRY(readLibraryFile(hooks, [](const std::string &symbol) {
        return isRow(symbol) || driverFunction(symbol) != nullptr;
      })));
  add(of_drivers, MSL_TRY(readLibraryFile(hooks, isOfDriver)));
  std::set<std::string> libraries;
  for (const std::string &other : others) {
    add(symbols, MSL_TRY(readLibraryFile(other, [](const std::string &symbol) { return !symbol.starts_with("_"); })));
    std::error_code error;
    libraries.insert(std::filesystem::canonical(other, error).string());
  }
  return HookedSymbols(std::move(symbols), std::move(libraries), std::move(of_drivers));
}

namespace {

const LibraryFile::Slot *slotOf(const Image &image, const std::string &symbol) {
  const auto found = std::ranges::find(image.file->slots, symbol, &LibraryFile::Slot::symbol);
  return found != image.file->slots.end() ? &*found : nullptr;
}

// Returns the program's slot behind its stub of a function, if `address` is this stub. If a program was linked to take
// the function's address from a stub of its own, all libraries use the address of this stub.
const LibraryFile::Slot *behindStub(const Image &program, const std::string &symbol, uint64_t address) {
  if (!program.file)
    return nullptr;
  const auto entry = program.file->entries.find(symbol);
  return entry != program.file->entries.end() && entry->second + program.bias == address ? slotOf(program, symbol)
                                                                                         : nullptr;
}

Bound boundTo(const ProcessView &view, const HookedSymbols &hooked, const Image &image, const LibraryFile::Slot &slot,
              bool follow) {
  const auto value = view.word(image.bias + slot.address);
  if (!value)
    return {Binding::Unbound};
  if (*value == 0)
    return {Binding::Missing};
  const Image *to = view.at(*value);
  if (to == nullptr)
    return {Binding::Nowhere};
  if (hooked.areIn(to->path))
    return {Binding::Hook};
  if (const LibraryFile::Slot *next = follow ? behindStub(*to, slot.symbol, *value) : nullptr)
    return boundTo(view, hooked, *to, *next, false);
  if (to != &image)
    return {Binding::Other, to};
  const auto own = image.file->definitions.find(slot.symbol);
  const bool is_own = own != image.file->definitions.end() && own->second.address + image.bias == *value;
  return is_own ? Bound{Binding::Own, to} : Bound{Binding::Unbound};
}

} // namespace

Bound boundTo(const ProcessView &view, const HookedSymbols &hooked, const Image &image, const LibraryFile::Slot &slot) {
  return boundTo(view, hooked, image, slot, true);
}

const Image *programsLibc(const ProcessView &view) {
  const Image *program = view.program();
  if (program == nullptr || !program->file)
    return nullptr;
  const LibraryFile::Slot *slot = slotOf(*program, kLibcEntry);
  const auto value = slot != nullptr ? view.word(program->bias + slot->address) : std::nullopt;
  return value ? view.at(*value) : nullptr;
}

} // namespace msleaks::analysis::inline second_run
