// Rows of a table as columns: the memory between an exporter and a writer of columns. A row group contains some rows,
// and nothing of it depends on other rows.
#pragma once

#include "analysis/base/tables.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace msleaks::analysis::inline exporters {

enum class ArrowType : uint8_t { U8, U16, U32, U64, Text };

constexpr size_t widthOf(ArrowType type) {
  constexpr size_t kWidths[] = {1, 2, 4, 8, 4}; // a text is a number in the group's own list
  return kWidths[static_cast<size_t>(type)];
}

// A column without a value in a row is null there.
class ArrowColumn {
public:
  ArrowColumn(std::string name, ArrowType type) : name_(std::move(name)), type_(type) {}

  const std::string &name() const { return name_; }
  ArrowType type() const { return type_; }

  // Call it at most once for each row, and for ascending rows.
  void set(uint64_t row, uint64_t value) {
    const size_t width = widthOf(type_);
    if (values_.size() <= row * width) {
      values_.resize((row + 1) * width);
      present_.resize(row / 8 + 1);
    }
    std::memcpy(values_.data() + row * width, &value, width); // little-endian
    present_[row / 8] = static_cast<char>(present_[row / 8] | 1 << row % 8);
    ++set_;
  }
  // The same for a text, which has a number of its own for the whole file.
  void setText(uint64_t row, uint32_t number, std::string_view text) {
    Local &local = elementAt(locals_, number);
    if (local.group != group_) {
      local = {group_, static_cast<uint32_t>(offsets_.size())};
      texts_ += text;
      offsets_.push_back(static_cast<uint32_t>(texts_.size()));
    }
    set(row, local.number);
  }

  // Writes the column of a group of this many rows, and empties it. arrow_side/write_parquet.py reads it.
  void moveTo(std::string &to, uint64_t rows) {
    const char kind = set_ == 0 ? kNothing : set_ == rows ? kFull : kSparse;
    to += kind;
    if (kind != kNothing) {
      values_.resize(rows * widthOf(type_));
      present_.resize((rows + 7) / 8);
      if (kind == kSparse)
        to += present_;
      to += values_;
      if (type_ == ArrowType::Text)
        moveTexts(to);
    }
    values_.clear();
    present_.clear();
    set_ = 0;
    ++group_;
  }

private:
  static constexpr char kNothing = 0, kFull = 1, kSparse = 2;
  struct Local {
    uint32_t group = 0, number = 0;
  };

  void moveTexts(std::string &to) {
    const uint32_t count = static_cast<uint32_t>(offsets_.size()), first = 0;
    to.append(reinterpret_cast<const char *>(&count), sizeof count);
    to.append(reinterpret_cast<const char *>(&first), sizeof first);
    to.append(reinterpret_cast<const char *>(offsets_.data()), offsets_.size() * sizeof(uint32_t));
    to += texts_;
    offsets_.clear();
    texts_.clear();
  }

  std::string name_;
  ArrowType type_;
  std::string values_, present_; // present_: a bit for each row
  uint64_t set_ = 0;             // rows with a value
  // Texts of the group: their ends in texts_.
  std::vector<uint32_t> offsets_;
  std::string texts_;
  std::vector<Local> locals_; // by number of the text in the file
  uint32_t group_ = 1;
};

} // namespace msleaks::analysis::inline exporters
