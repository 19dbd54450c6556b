// Vectors that are kept by a dense number and grow with it.
#pragma once

#include <cstddef>
#include <vector>

namespace msleaks::analysis {

// The element at `index`; the list grows to it, and by half, when it is not there yet. References into the list end
// then.
template <class T> T &elementAt(std::vector<T> &list, size_t index) {
  if (index >= list.size())
    list.resize(index + 1 + index / 2);
  return list[index];
}

// The same without growing: what is behind the end has the value of a new element.
template <class T> T valueAt(const std::vector<T> &list, size_t index) {
  return index < list.size() ? list[index] : T{};
}

} // namespace msleaks::analysis
