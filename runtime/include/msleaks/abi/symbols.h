// Makes the rows of all functions: the effects on memory in the table of functions (functions.h).
#pragma once

#include "msleaks/abi/functions.h"
#include "msleaks/abi/symbol.h"

#include <array>
#include <string_view>

namespace msleaks::abi {
namespace detail {

// The row number of each function of the C and C++ heap and of mappings.
namespace Row {
enum : int {
#define MSL_KNOWN(family, name, ...) name,
#define MSL_PART_MEMORY
#include "msleaks/abi/functions/libc.def"
#undef MSL_PART_MEMORY
#undef MSL_KNOWN
};
} // namespace Row

// Calls `to(name, ending, family, effect)` for each effect of each function, and of its form.
template <class To> constexpr void forEachEffect(To to) {
  for (const Function &function : kFunctions)
    for (const Effect &effect : function.effects) {
      to(function.name, std::string_view{}, function.family, effect);
      if (function.form_has_rows)
        to(function.form, function.form.substr(function.name.size()), function.family, effect);
    }
}

template <Effect::On kOn> constexpr size_t countEffects() {
  size_t count = 0;
  forEachEffect([&](auto, auto, auto, const Effect &effect) { count += effect.on == kOn; });
  return count;
}

using Symbols = std::array<Symbol, countEffects<Effect::On::Memory>()>;

// Returns the number of the row that frees the blocks of a function of this family, or -1. A form of the function frees
// by a form, if there is one.
constexpr int partnerOf(const Symbols &symbols, Family family, std::string_view freed_by, std::string_view ending) {
  int found = -1;
  for (int number = 0; number < static_cast<int>(symbols.size()); ++number) {
    const Symbol &symbol = symbols[number];
    if (symbol.verb != Verb::Free || symbol.family != family || !symbol.name.starts_with(freed_by))
      continue;
    const std::string_view rest = symbol.name.substr(freed_by.size());
    if (rest == ending)
      return number;
    if (rest.empty())
      found = number;
  }
  return found;
}

constexpr Symbols allSymbols() {
  Symbols symbols{};
  size_t count = 0;
  forEachEffect([&](std::string_view name, auto, Family family, const Effect &effect) {
    if (effect.on != Effect::On::Memory)
      return;
    Symbol &symbol = symbols[count++] = effect.memory;
    symbol.name = name;
    symbol.family = family;
    symbol.status = symbol.status && family != Family::Heap; // a free of the heap cannot fail
  });
  count = 0;
  forEachEffect([&](auto, std::string_view ending, Family family, const Effect &effect) {
    if (effect.on != Effect::On::Memory)
      return;
    Symbol &symbol = symbols[count++];
    if (!effect.freed_by.empty())
      symbol.partner = partnerOf(symbols, family, effect.freed_by, ending);
  });
  return symbols;
}
} // namespace detail

inline constexpr detail::Symbols kSymbols = detail::allSymbols();
static_assert(kSymbols[detail::Row::malloc].name == "malloc" && kSymbols[detail::Row::munmap].name == "munmap");

// Whether each allocator has a partner that frees its blocks. Without a partner, each block of the allocator would be
// reported as a leak.
consteval bool everyAllocatorHasItsFree() {
  for (const Symbol &symbol : kSymbols)
    if ((symbol.verb == Verb::Alloc || symbol.verb == Verb::Realloc || symbol.verb == Verb::Map) && symbol.partner < 0)
      return false;
  return true;
}
static_assert(everyAllocatorHasItsFree(), "the partner of an allocator must free, in the same family");

// Returns the row of the function with this linkage name, or null.
constexpr const Symbol *findSymbol(std::string_view name) {
  for (const Symbol &symbol : kSymbols)
    if (symbol.name == name)
      return &symbol;
  return nullptr;
}

} // namespace msleaks::abi
