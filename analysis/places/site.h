// A place in code that allocates, frees, launches or copies: what a report can say about it.
//
// The strings are views: they live as long as the SiteTable or SiteCatalog that gave the site. So a table whose rows
// all name one long string costs that string once, whatever a hostile file claims.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace msleaks::analysis::inline places {

// Number of a site in one SiteCatalog; equal sites of several processes have one. 0 = not known.
struct SiteId {
  uint32_t index = 0;
  constexpr bool known() const { return index != 0; }
  constexpr auto operator<=>(const SiteId &) const = default;
};

// A site as the events of a process name it.
struct SiteNumber {
  uint32_t process = 0, number = 0;
};

enum class SiteOrigin : uint8_t {
  Unknown,
  Pass, // a row of a site table
  Hook, // the caller of an interposed function
};

// One step of an inline chain: `function` called the step before it at file:line:column.
struct InlineFrame {
  std::string_view function, file;
  uint32_t line = 0, column = 0;
  auto operator<=>(const InlineFrame &) const = default;
};

// Empty strings and zeros mean: not known.
struct Site {
  uint64_t id = 0; // stable over builds of the same source
  std::string_view file;
  uint32_t line = 0, column = 0;
  std::string_view function, callee; // linkage names
  std::string_view type, variable;
  std::span<const InlineFrame> inlined_at; // innermost first
  SiteOrigin origin = SiteOrigin::Unknown;
  std::string_view library; // the image that holds the site: its path
  uint64_t offset = 0;      // origin Hook: address in that image's file
};

} // namespace msleaks::analysis::inline places

template <> struct std::hash<msleaks::analysis::SiteId> {
  size_t operator()(msleaks::analysis::SiteId site) const noexcept { return site.index; }
};
