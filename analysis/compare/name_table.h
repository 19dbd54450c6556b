// Numbers of names, so that sequences of launches are sequences of numbers.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace msleaks::analysis::compare {

// Both sides of a comparison use the same table.
class NameTable {
public:
  NameTable() = default;
  NameTable(const NameTable &) = delete; // numbers_ looks into texts_
  NameTable &operator=(const NameTable &) = delete;

  uint32_t numberOf(std::string_view text) {
    const auto known = numbers_.find(text);
    if (known != numbers_.end())
      return known->second;
    const auto number = static_cast<uint32_t>(texts_.size());
    numbers_.emplace(texts_.emplace_back(text), number);
    return number;
  }
  const std::string &operator[](uint32_t number) const { return texts_[number]; }

private:
  std::deque<std::string> texts_; // a deque, so that a text stays where it is
  std::unordered_map<std::string_view, uint32_t> numbers_;
};

} // namespace msleaks::analysis::compare
