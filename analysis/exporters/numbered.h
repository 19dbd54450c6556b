// Numbers things from 0 in the order in which they are first used. Equal things have one number.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline exporters {

template <class T> class Numbered {
public:
  size_t numberOf(T value) {
    const auto [at, is_new] = numbers_.try_emplace(std::move(value), items_.size());
    if (is_new)
      items_.push_back(&at->first);
    return at->second;
  }
  // The things, by number.
  const std::vector<const T *> &items() const { return items_; }

private:
  std::map<T, size_t> numbers_;
  std::vector<const T *> items_;
};

} // namespace msleaks::analysis::inline exporters
