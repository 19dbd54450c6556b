// Finds the range that contains an address, among ranges such as functions, images or mappings.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace msleaks::analysis::inline base {

// Returns the entry of the list that contains the address, or null. The entries are in order of `begin`, and do not
// overlap.
template <class List> auto *rangeAt(List &list, uint64_t address) {
  auto found = std::upper_bound(list.begin(), list.end(), address,
                                [](uint64_t value, const auto &range) { return value < range.begin; });
  return found != list.begin() && address < std::prev(found)->end ? &*std::prev(found) : nullptr;
}

} // namespace msleaks::analysis::inline base
