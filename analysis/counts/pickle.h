// Reads Python's pickles that contain only numbers, texts, bytes, lists, tuples and dictionaries of them. The reader
// refuses all other pickles. A pickle could ask to call a function, but the reader imports, makes and runs nothing.
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
  using Ref = uint32_t; // A list may contain itself, so code that walks the items limits the depth.

  static constexpr size_t kUsualValues = 8'000'000;
  // Fails if the pickle has more values. Bytes are texts, and the numbers 0 and 1 stand for False and True.
  static Result<Pickle> parse(std::string_view content, size_t most_values = kUsualValues);

  Ref root() const { return root_; }
  Kind kindOf(Ref ref) const { return values_[ref].kind; }
  bool isNumber(Ref) const;
  double numberOf(Ref) const;                                     // for Integer, Negative and Float
  uint64_t integerOf(Ref ref) const { return values_[ref].bits; } // for Integer
  std::string_view textOf(Ref ref) const { return texts_[values_[ref].bits]; }
  // Returns the items of a list or tuple, or the alternating keys and values of a dictionary.
  const std::vector<Ref> &itemsOf(Ref ref) const { return items_[values_[ref].bits]; }
  // Returns the value of a key, or null if there is none. If a key occurs several times, returns the last value, as
  // Python does.
  const Ref *find(Ref dictionary, std::string_view key) const;

private:
  friend class PickleParser;
  struct Value {
    Kind kind = Kind::None;
    uint64_t bits = 0; // the number, or the index of the value's text or items
  };
  std::vector<Value> values_;
  std::deque<std::string> texts_;
  std::deque<std::vector<Ref>> items_;
  Ref root_ = 0;
};

} // namespace msleaks::analysis::profiles
