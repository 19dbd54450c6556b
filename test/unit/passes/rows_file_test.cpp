#include "rows_file.h"

#include <gtest/gtest.h>

namespace msleaks::passes {
namespace {

using abi::Position;
using abi::ResultKind;
using abi::Verb;

TEST(RowsFile, ReadsEachKindOfRow) {
  const RowsResult result = parseRows("# allocators\n"
                                      "alloc   get   size=1 count=-1 free=put heap=device\n"
                                      "\n"
                                      "alloc   fill  result=handle(4) size=2 free=put\n"
                                      "realloc grow  address=0 size=1 free=put # grows\n"
                                      "retain  share address=0\n"
                                      "free    put   address=1 size=2",
                                      "my.rows");
  ASSERT_EQ(result.error, "");
  ASSERT_EQ(result.rows.size(), 5u);
  const UserRow &get = result.rows.at("get");
  EXPECT_EQ(get.line, 2u);
  EXPECT_EQ(get.free, "put");
  EXPECT_EQ(get.symbol.verb, Verb::Alloc);
  EXPECT_EQ(get.symbol.family, abi::Family::User);
  EXPECT_EQ(get.symbol.heap, abi::Heap::Device);
  EXPECT_EQ(get.symbol.result.kind, ResultKind::Return);
  EXPECT_EQ(get.symbol.size, Position(1));
  EXPECT_EQ(get.symbol.count, Position(-1));
  EXPECT_EQ(result.rows.at("fill").symbol.heap, abi::Heap::Pool);
  EXPECT_EQ(result.rows.at("fill").symbol.result.kind, ResultKind::Handle);
  EXPECT_EQ(result.rows.at("fill").symbol.result.at, Position(4));
  EXPECT_EQ(result.rows.at("grow").symbol.flags, abi::kRealloc);
  EXPECT_EQ(result.rows.at("share").symbol.verb, Verb::Retain);
  EXPECT_EQ(result.rows.at("put").symbol.address, Position(1));
}

TEST(RowsFile, AcceptsNothingAndOtherLineEnds) {
  EXPECT_EQ(parseRows("", "f").error, "");
  EXPECT_EQ(parseRows("\n\n#\n", "f").error, "");
  EXPECT_EQ(parseRows("free f address=0\r\n", "f").rows.size(), 1u);
}

TEST(RowsFile, AcceptsAPartnerOfTheTable) {
  EXPECT_EQ(parseRows("alloc get size=0 free=free", "f").error, "");
  EXPECT_NE(parseRows("alloc get size=0 free=malloc", "f").error, "");
}

struct Mistake {
  const char *text, *error;
};

class RowsFileMistake : public testing::TestWithParam<Mistake> {};

TEST_P(RowsFileMistake, SaysWhereAndWhat) {
  const RowsResult result = parseRows(GetParam().text, "f");
  EXPECT_EQ(result.error, GetParam().error);
  EXPECT_TRUE(result.rows.empty()) << "a file with a mistake gives no rows";
}

INSTANTIATE_TEST_SUITE_P(
    All, RowsFileMistake,
    testing::Values(Mistake{"\nlaunch f", "f:2: a row begins with alloc, realloc, free or retain, not with 'launch'"},
                    Mistake{"free", "f:1: the row names no function"},
                    Mistake{"free address=0", "f:1: expected the name of a function instead of 'address=0'"},
                    Mistake{"free f", "f:1: the row needs address="},
                    Mistake{"alloc f free=free", "f:1: the row needs size="},
                    Mistake{"free f address", "f:1: expected name=value instead of 'address'"},
                    Mistake{"free f address=64",
                            "f:1: 'address' needs the number of a parameter (0 is the first, -1 the last), not '64'"},
                    Mistake{"free f address=",
                            "f:1: 'address' needs the number of a parameter (0 is the first, -1 the last), not ''"},
                    Mistake{"free f address=0x",
                            "f:1: 'address' needs the number of a parameter (0 is the first, -1 the last), not '0x'"},
                    Mistake{"free f address=0 heap=hoop", "f:1: unknown heap 'hoop'"},
                    Mistake{"free f result=return", "f:1: a row of kind 'free' has no field 'result'"},
                    Mistake{"alloc f size=0 free=", "f:1: free= needs the name of a function"},
                    Mistake{"alloc f size=0 result=out(x) free=free",
                            "f:1: result is return, out(n) or handle(n), not 'out(x)'"}));

// The pass carries a row through the optimiser as text.
TEST(RowsFile, RowSurvivesAsText) {
  for (const char *text : {"alloc heap=pool size=1 count=0 result=out(2)", "realloc heap=host size=-1 address=0",
                           "free heap=device size=2 address=1", "alloc heap=pool size=3"}) {
    UserRow row;
    ASSERT_EQ(parseRow(text, row), "");
    UserRow again;
    ASSERT_EQ(parseRow(std::string(nameOf(row.symbol.verb)) + " " + rowFields(row.symbol), again), "");
    EXPECT_EQ(rowFields(again.symbol), rowFields(row.symbol)) << text;
    EXPECT_EQ(again.symbol.size, row.symbol.size) << text;
    EXPECT_EQ(again.symbol.result.at, row.symbol.result.at) << text;
    EXPECT_EQ(again.symbol.flags, row.symbol.flags) << text;
  }
}

} // namespace
} // namespace msleaks::passes
