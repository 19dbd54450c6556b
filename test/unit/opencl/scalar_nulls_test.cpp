// Tests the removal of null scalars from SPIR-V modules, word by word.
#include "scalar_nulls.h"

#include <gtest/gtest.h>

namespace msleaks::driver {
namespace {

using Words = std::vector<uint32_t>;

constexpr uint32_t op(uint32_t words, uint32_t opcode) { return words << 16 | opcode; }

Words moduleOf(const Words &instructions) {
  Words module = {0x07230203, 0x10000, 0, 100, 0};
  module.insert(module.end(), instructions.begin(), instructions.end());
  return module;
}

// Declares the types 1 to 5: bool, int with 32 bits, int with 64 bits, half, and a vector of 4 ints.
const Words kTypes = {op(2, 20), 1, op(4, 21), 2, 32, 0, op(4, 21), 3, 64, 0, op(3, 22), 4, 16, op(4, 23), 5, 2, 4};

Words withTypes(const Words &instructions) {
  Words all = kTypes;
  all.insert(all.end(), instructions.begin(), instructions.end());
  return moduleOf(all);
}

} // namespace

TEST(ScalarNulls, BecomeTheConstantsThatTheyMean) {
  EXPECT_EQ(withoutScalarNulls(withTypes({op(3, 46), 1, 11, op(3, 46), 2, 12, op(3, 46), 3, 13, op(3, 46), 4, 14})),
            withTypes({op(3, 42), 1, 11, op(4, 43), 2, 12, 0, op(5, 43), 3, 13, 0, 0, op(4, 43), 4, 14, 0}));
}

TEST(ScalarNulls, AllElseStays) {
  const Words module = withTypes({op(3, 46), 5, 15, op(4, 43), 2, 16, 7, op(1, 0)});
  EXPECT_EQ(withoutScalarNulls(module), module);
}

TEST(ScalarNulls, WhatIsNoModuleOrIsCutIsRefused) {
  EXPECT_TRUE(withoutScalarNulls({}).empty());
  EXPECT_TRUE(withoutScalarNulls({0x03022307, 0, 0, 0, 0}).empty()) << "of the other byte order";
  const Words module = withTypes({op(3, 46), 2, 12});
  const Words whole = withoutScalarNulls(module);
  for (size_t length = 0; length < module.size(); ++length) {
    const Words cut(module.begin(), module.begin() + static_cast<ptrdiff_t>(length));
    EXPECT_NE(withoutScalarNulls(cut), whole) << length;
  }
  EXPECT_TRUE(withoutScalarNulls(moduleOf({op(0, 20)})).empty()) << "an instruction without words";
}

} // namespace msleaks::driver
