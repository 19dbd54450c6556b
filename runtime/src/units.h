// Reads the units of an image (abi/site_table.h). A unit may have any version of the object format.
#pragma once

#include "msleaks/abi/definitions.h"
#include "msleaks/abi/site_table.h"
#include "msleaks/abi/version.h"

#include <cstring>

namespace msleaks::runtime {

// The bytes [begin, end) of all units of an image, which are side by side.
struct UnitRange {
  char *begin, *end;
  bool sized; // whether each unit stores its own size; units of the first version do not
};

inline UnitRange rangeOf(abi::Unit *begin, abi::Unit *end) noexcept {
  return {reinterpret_cast<char *>(begin), reinterpret_cast<char *>(end), true};
}
inline UnitRange rangeOf(abi::UnitV1 *begin, abi::UnitV1 *end) noexcept {
  return {reinterpret_cast<char *>(begin), reinterpret_cast<char *>(end), false};
}

// The fields of a unit that are needed to arm it.
struct ArmableUnit {
  uint32_t *base;
  uint32_t version, needs;
  const abi::UnitHeader *table;
};

// Reads the unit at `at` and returns its size, or 0 if there is no whole unit.
inline uint64_t readUnit(const UnitRange &range, char *at, ArmableUnit &unit) noexcept {
  const auto left = static_cast<uint64_t>(range.end - at);
  if (!range.sized) {
    auto *found = reinterpret_cast<abi::UnitV1 *>(at);
    if (left < sizeof *found)
      return 0;
    unit = {&found->base, found->version, found->version, found->table};
    return sizeof *found;
  }
  auto *found = reinterpret_cast<abi::Unit *>(at);
  if (left < sizeof *found || found->bytes < sizeof *found || found->bytes % alignof(abi::Unit) != 0 ||
      found->bytes > left)
    return 0;
  unit = {&found->base, found->version, found->needs, found->table};
  return found->bytes;
}

// Calls f(unit) for each unit that has a table, until f returns false. Stops at a unit of an impossible size.
template <class F> void forEachUnit(const UnitRange &range, F &&f) noexcept {
  ArmableUnit unit{};
  for (char *at = range.begin; at != range.end;) {
    const uint64_t bytes = readUnit(range, at, unit);
    if (bytes == 0 || (unit.table != nullptr && !f(unit)))
      return;
    at += bytes;
  }
}

// Returns the reason why a unit cannot be armed, or null. Before this function reads the unit's table, it checks that
// the table is inside the image. If the image's end is not known (0), it does not check this.
inline const char *refusal(const ArmableUnit &unit, const abi::ImageDefinition &image) noexcept {
  if (unit.version < abi::kOldestObjectVersion || unit.needs > abi::kObjectVersion)
    return "it needs another runtime";
  const auto begin = reinterpret_cast<uint64_t>(unit.table);
  if (image.end != 0 && (begin < image.begin || begin > image.end || image.end - begin < abi::kFirstHeaderBytes))
    return "its table of sites lies outside of it";
  if (unit.table->magic != abi::kUnitMagic)
    return "its table of sites is of another kind";
  if (image.end != 0 && unit.table->total_bytes > image.end - begin)
    return "its table of sites is cut off";
  return nullptr;
}

} // namespace msleaks::runtime
