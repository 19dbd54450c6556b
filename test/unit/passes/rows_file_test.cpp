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
  EXPECT_EQ(result.rows.at("fill").symbol.heap, abi::Heap::Device) << "as its free has it from get";
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
    testing::Values(Mistake{"\nlaunch f", "f:2: a row begins with alloc, realloc, free, retain or wrapper, not with 'launch'"},
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
                    Mistake{"alloc f size=0 free=cudaFree heap=host",
                            "f:1: 'cudaFree' gives back blocks of heap 'device', and this row names heap 'host'"},
                    Mistake{"alloc a size=0 free=c heap=device\nalloc b size=0 free=c heap=pool\nfree c address=0",
                            "f:2: 'c' gives back blocks of heap 'device' (line 1), and this row names heap 'pool'"},
                    Mistake{"alloc a size=0 free=c heap=device\nfree c address=0 heap=host",
                            "f:1: 'c' gives back blocks of heap 'host' (line 2), and this row names heap 'device'"},
                    Mistake{"alloc f size=0 result=out(x) free=free",
                            "f:1: result is return, out(n), handle(n) or at(n), not 'out(x)'"}));

// The pass stores a row as text while the optimiser runs. So a row must survive the conversion to text and back.
TEST(RowsFile, RowSurvivesAsText) {
  for (const char *text : {"alloc heap=pool size=1 count=0 result=out(2)", "alloc heap=pool size=1 result=handle(-1)",
                           "realloc heap=host size=-1 address=0", "free heap=device size=2 address=1",
                           "retain heap=managed address=3", "alloc heap=pool size=3",
                           "alloc heap=registered size=1 result=at(0)"}) {
    UserRow row;
    ASSERT_EQ(parseRow(text, row), "");
    EXPECT_EQ(rowText(row.symbol), text);
    UserRow again;
    ASSERT_EQ(parseRow(rowText(row.symbol), again), "");
    EXPECT_TRUE(again.symbol == row.symbol) << text;
  }
}

abi::Heap heapOf(const char *text, const char *name) {
  const RowsResult result = parseRows(text, "f");
  EXPECT_EQ(result.error, "");
  return result.error.empty() ? result.rows.at(name).symbol.heap : abi::Heap::Count;
}

// An allocation and its free must name the same heap. Otherwise they would never be matched.
TEST(RowsFile, RowsThatBelongTogetherHaveOneHeap) {
  const char *named_by_alloc = "alloc get size=0 free=put heap=device\nalloc more size=0 free=put\nfree put address=0";
  EXPECT_EQ(heapOf(named_by_alloc, "put"), abi::Heap::Device);
  EXPECT_EQ(heapOf(named_by_alloc, "more"), abi::Heap::Device);
  EXPECT_EQ(heapOf("alloc get size=0 free=put\nfree put address=0 heap=host", "get"), abi::Heap::Host);
  EXPECT_EQ(heapOf("alloc get size=0 free=cudaFree", "get"), abi::Heap::Device);
  EXPECT_EQ(heapOf("realloc grow address=0 size=1 free=free", "grow"), abi::Heap::Host);
  EXPECT_EQ(heapOf("alloc get size=0 free=cudaFree heap=managed", "get"), abi::Heap::Managed) << "one driver's space";
  EXPECT_EQ(heapOf("alloc get size=0 free=put\nfree put address=0", "put"), abi::Heap::Pool);
}

} // namespace
} // namespace msleaks::passes
