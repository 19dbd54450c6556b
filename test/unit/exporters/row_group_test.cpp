// Tests the bytes of columns, which arrow_side/write_parquet.py reads (analysis/exporters/row_group.h).
#include "analysis/exporters/row_group.h"

#include <gtest/gtest.h>

namespace msleaks::analysis {
namespace {

std::string moved(ArrowColumn &column, uint64_t rows) {
  std::string bytes;
  column.moveTo(bytes, rows);
  return bytes;
}

std::string bytesOf(std::initializer_list<int> list) {
  std::string bytes;
  for (const int byte : list)
    bytes += static_cast<char>(byte);
  return bytes;
}

} // namespace

TEST(RowGroup, AColumnWithoutValuesIsOneByte) {
  ArrowColumn column("size", ArrowType::U64);
  EXPECT_EQ(moved(column, 1000), bytesOf({0}));
}

TEST(RowGroup, AFullColumnHasOnlyItsValues) {
  ArrowColumn column("device", ArrowType::U16);
  column.set(0, 0x0102);
  column.set(1, 0xffff);
  EXPECT_EQ(moved(column, 2), bytesOf({1, 0x02, 0x01, 0xff, 0xff}));
}

TEST(RowGroup, ASparseColumnSaysWhichRowsHaveAValue) {
  ArrowColumn column("device", ArrowType::U8);
  column.set(1, 7);
  column.set(9, 8);
  EXPECT_EQ(moved(column, 11), bytesOf({2, 0b10, 0b10, 0, 7, 0, 0, 0, 0, 0, 0, 0, 8, 0}));
  EXPECT_EQ(moved(column, 3), bytesOf({0})) << "nothing is left for the next group";
}

TEST(RowGroup, EachGroupHasItsOwnTexts) {
  ArrowColumn column("place", ArrowType::Text);
  column.setText(0, 70, "b");
  column.setText(1, 3, "aa");
  column.setText(2, 70, "b");
  EXPECT_EQ(moved(column, 3), bytesOf({1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}) +
                                  bytesOf({2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0}) + "baa");
  column.setText(0, 3, "aa");
  EXPECT_EQ(moved(column, 1), bytesOf({1, 0, 0, 0, 0}) + bytesOf({1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0}) + "aa");
}

} // namespace msleaks::analysis
