// Python's pickles, as far as they hold numbers, texts, lists, tuples and dictionaries of them. Whatever else a pickle
// could ask for, above all to call something, is refused: nothing is imported, made or run.
#pragma once

#include "analysis/base/result.h"

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace msleaks::analysis::profiles {

class Pickle {
public:
  enum class Kind : uint8_t { None, Integer, Negative, Float, Text, List, Dictionary };
  using Ref = uint32_t; // a list may hold itself: who walks does so to a depth of his own

  static Result<Pickle> parse(std::string_view content);

  Ref root() const { return root_; }
  Kind kindOf(Ref ref) const { return values_[ref].kind; }
  bool isNumber(Ref) const;
  double numberOf(Ref) const;                                     // of Integer, Negative and Float
  uint64_t integerOf(Ref ref) const { return values_[ref].bits; } // of Integer
  std::string_view textOf(Ref ref) const { return texts_[values_[ref].bits]; }
  // The items of a list or tuple; keys and values of a dictionary by turns.
  const std::vector<Ref> &itemsOf(Ref ref) const { return items_[values_[ref].bits]; }
  // The value of a key; the last one, as Python has it. Null when there is none.
  const Ref *find(Ref dictionary, std::string_view key) const;

private:
  friend class PickleParser;
  struct Value {
    Kind kind = Kind::None;
    uint64_t bits = 0; // the number, or the index of its text or items
  };
  std::vector<Value> values_;
  std::deque<std::string> texts_;
  std::deque<std::vector<Ref>> items_;
  Ref root_ = 0;
};

} // namespace msleaks::analysis::profiles
