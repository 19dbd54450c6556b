// Decodes messages of Protocol Buffers, for the tests of formats that contain them.
#pragma once

#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace msleaks::analysis::test {

// A decoded message: the numbers and the texts of each field, in their order.
struct Message {
  explicit Message(std::string_view bytes) {
    while (!bytes.empty()) {
      const uint64_t key = varint(bytes);
      if ((key & 7) == 0) {
        numbers[key >> 3].push_back(varint(bytes));
        continue;
      }
      const uint64_t size = varint(bytes);
      EXPECT_EQ(key & 7, 2u);
      EXPECT_LE(size, bytes.size());
      if ((key & 7) != 2 || size > bytes.size())
        return;
      texts[key >> 3].emplace_back(bytes.substr(0, size));
      bytes.remove_prefix(size);
    }
  }
  static uint64_t varint(std::string_view &bytes) {
    uint64_t value = 0;
    for (int shift = 0; !bytes.empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(bytes.front());
      bytes.remove_prefix(1);
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80)
        break;
    }
    return value;
  }
  std::vector<uint64_t> packed(int field) const {
    std::vector<uint64_t> list;
    for (std::string_view bytes = texts.at(field).at(0); !bytes.empty();)
      list.push_back(varint(bytes));
    return list;
  }
  Message message(int field, size_t number) const { return Message(texts.at(field).at(number)); }
  uint64_t number(int field) const { return numbers.contains(field) ? numbers.at(field).at(0) : 0; }

  std::map<uint64_t, std::vector<uint64_t>> numbers;
  std::map<uint64_t, std::vector<std::string>> texts;
};

} // namespace msleaks::analysis::test
