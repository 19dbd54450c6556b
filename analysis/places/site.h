// A place in code that allocates, frees, launches or copies, as a report knows it.
//
// The strings are views. They are valid while the SiteTable or SiteCatalog of the site exists. So if all rows of a
// damaged table name one long string, the string is stored only once.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace msleaks::analysis::inline places {

// The number of a site in one SiteCatalog. Equal sites of several processes have the same number. 0 = not known.
struct SiteId {
  uint32_t index = 0;
  constexpr bool known() const { return index != 0; }
  constexpr auto operator<=>(const SiteId &) const = default;
};

// The number that a process' events use for a site.
struct SiteNumber {
  uint32_t process = 0, number = 0;
};

enum class SiteOrigin : uint8_t {
  Unknown,
  Pass,   // a row of a site table
  Hook,   // the caller of an interposed function
  Python, // a line of Python code
};

// A step of an inline chain: `function` called the step before it in the line file:line:column.
struct InlineFrame {
  std::string_view function, file;
  uint32_t line = 0, column = 0;
  auto operator<=>(const InlineFrame &) const = default;
};

// Empty strings and zeros mean that a fact is not known.
struct Site {
  uint64_t id = 0; // the same in all builds of the same source
  std::string_view file;
  uint32_t line = 0, column = 0;
  std::string_view function, callee; // linkage names
  std::string_view type, variable;
  std::span<const InlineFrame> inlined_at; // innermost first
  SiteOrigin origin = SiteOrigin::Unknown;
  std::string_view library; // path of the image that contains the site
  uint64_t offset = 0;      // origin Hook: address in the image's file
  std::string_view module;  // origin Python: the module of PyTorch that the line calls (abi::PythonModuleDefinition)
};

} // namespace msleaks::analysis::inline places

template <> struct std::hash<msleaks::analysis::SiteId> {
  size_t operator()(msleaks::analysis::SiteId site) const noexcept { return site.index; }
};
