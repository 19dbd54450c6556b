// Writes a value in Python's format pickle, protocol 2. Uses only opcodes of built-in types, which PyTorch's viewer in
// JavaScript knows, too.
#pragma once

#include "analysis/base/text.h"
#include "analysis/result/json_tree.h"

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace msleaks::analysis::inline exporters {

// Each function appends one opcode, and a reader executes them on a stack. put() gives the value on top of the stack a
// number, and get() pushes the same value again.
class Pickle {
public:
  Pickle() { code_ = {kProto, 2}; }

  void emptyDict() { code_ += '}'; }
  void emptyList() { code_ += ']'; }
  void none() { code_ += 'N'; }
  void mark() { code_ += '('; }
  // Each removes values from the stack, and puts them into the list or dict below: the values after mark(), or one.
  void append() { code_ += 'a'; }
  void appends() { code_ += 'e'; }
  void setItem() { code_ += 's'; }
  void setItems() { code_ += 'u'; }
  void stop() { code_ += '.'; }

  void put(uint32_t number) { numbered('q', 'r', number); }
  void get(uint32_t number) { numbered('h', 'j', number); }

  // A byte that is not UTF-8 is escaped, because a reader refuses it.
  void text(std::string_view text) {
    const std::string shown = printable(text);
    code_ += 'X';
    little(shown.size(), 4);
    code_ += shown;
  }
  void boolean(bool value) { code_ += value ? '\x88' : '\x89'; }
  void number(uint64_t value) {
    if (value <= UINT8_MAX)
      return code_ += 'K', little(value, 1);
    if (value <= UINT16_MAX)
      return code_ += 'M', little(value, 2);
    if (value <= uint64_t{INT32_MAX})
      return code_ += 'J', little(value, 4);
    const unsigned bytes = static_cast<unsigned>(std::bit_width(value)) / 8 + 1; // the highest bit is the sign
    code_ += kLong;
    little(bytes, 1);
    little(value, bytes);
  }
  void decimal(double value) {
    const auto bits = std::bit_cast<uint64_t>(value);
    code_ += 'G';
    for (int shift = 56; shift >= 0; shift -= 8)
      code_ += static_cast<char>(bits >> shift);
  }
  void json(const Json &);

  std::string &code() { return code_; }

private:
  static constexpr char kProto = '\x80', kLong = '\x8a';

  // The lowest byte first.
  void little(uint64_t value, unsigned bytes) {
    char text[9];
    for (unsigned i = 0; i < bytes; ++i)
      text[i] = static_cast<char>(i < 8 ? value >> 8 * i : 0);
    code_.append(text, bytes);
  }
  void numbered(char small, char large, uint32_t number) {
    code_ += number <= UINT8_MAX ? small : large;
    little(number, number <= UINT8_MAX ? 1 : 4);
  }

  std::string code_;
};

// A tree of JSON has a bounded depth, so the recursion is bounded.
inline void Pickle::json(const Json &value) {
  switch (value.type()) {
  case Json::value_t::object:
    emptyDict();
    for (const auto &[key, item] : value.items()) {
      text(key);
      json(item);
      setItem();
    }
    return;
  case Json::value_t::array:
    emptyList();
    for (const Json &item : value) {
      json(item);
      append();
    }
    return;
  case Json::value_t::string:
    return text(value.get_ref<const std::string &>());
  case Json::value_t::boolean:
    return boolean(value.get<bool>());
  case Json::value_t::number_unsigned:
    return number(value.get<uint64_t>());
  case Json::value_t::number_integer:
  case Json::value_t::number_float:
    return decimal(value.get<double>());
  default:
    return none();
  }
}

} // namespace msleaks::analysis::inline exporters
