#include "analysis/places/site_catalog.h"

#include "definition_bytes.h"
#include "elf_fixture.h"
#include "table_bytes.h"

#include "msleaks/abi/session.h"

#include <malloc.h>

namespace msleaks::analysis {
namespace {

using test::bytesOf;
using test::raw;
using test::Records;

class Catalog : public testing::Test {
protected:
  void define(uint32_t process, const Records &records) { catalog.addDefinitions(process, bytesOf(records.bytes)); }
  Symbolizer symbolizer;
  SiteCatalog catalog{symbolizer};
};

} // namespace

// Process 3 is a child of process 2, which is a child of process 1. The start record of process 3 names its parent. The
// definitions of process 2 name its parent, as in old traces. A trace may store a child's definitions first, so the
// parents' definitions are added last here.
TEST_F(Catalog, AChildFindsWhatItsAncestorsDefined) {
  catalog.addProcess({1, 11, 1, 1000, 0, {}});
  catalog.addProcess({2, 22, 11, 2000, 0, {}});
  catalog.addProcess({.process = 3,
                      .pid = 33,
                      .parent_pid = 22,
                      .time_ns = 3000,
                      .realtime_ns = 0,
                      .command = {},
                      .ancestor = {22, 2000}});
  define(3, Records().image(1, "/own.so").unit(1, 200, test::sampleTable()));
  define(2, Records().inherited(11, 1000));
  define(1, Records().image(1, "/bin/net").unit(1, 100, test::sampleTable()).unit(1, 200, test::sampleTable()));
  EXPECT_EQ(catalog.find(3, 100).index, catalog.find(1, 100).index);
  EXPECT_EQ(catalog.describe(catalog.find(3, 100)).library, "/bin/net");
  EXPECT_EQ(catalog.describe(catalog.find(3, 200)).library, "/own.so") << "the parent loaded another library there";
  EXPECT_EQ(catalog.find(2, 200).index, catalog.find(1, 200).index);
  EXPECT_FALSE(catalog.find(3, 99).known());
}

TEST_F(Catalog, AnAncestorThatIsUnknownOrItselfIsNone) {
  catalog.addProcess({1, 11, 1, 1000, 0, {}});
  define(1, Records().inherited(11, 1000));
  define(2, Records().inherited(77, 1000));
  EXPECT_FALSE(catalog.find(1, 100).known());
  EXPECT_FALSE(catalog.find(2, 100).known());
  EXPECT_TRUE(catalog.notes().empty());
}

TEST_F(Catalog, TurnsNumbersIntoSites) {
  define(1, Records().image(1, "/bin/net").unit(1, 100, test::sampleTable()));
  const SiteId site = catalog.find(1, 100);
  ASSERT_TRUE(site.known());
  EXPECT_EQ(catalog.describe(site).variable, "weights");
  EXPECT_EQ(catalog.describe(site).library, "/bin/net");
  EXPECT_EQ(catalog.describe(catalog.find(1, 101)).inlined_at.size(), 2u);
  EXPECT_FALSE(catalog.find(1, 99).known());
  EXPECT_FALSE(catalog.find(1, 103).known());
  EXPECT_FALSE(catalog.find(1, 0).known());
  EXPECT_FALSE(catalog.find(2, 100).known());
  EXPECT_FALSE(catalog.find(1, UINT32_MAX).known());
  EXPECT_EQ(catalog.describe(SiteId{}).origin, SiteOrigin::Unknown);
  EXPECT_EQ(catalog.describe(SiteId{12345}).id, 0u);
  EXPECT_TRUE(catalog.notes().empty());
}

TEST_F(Catalog, EqualSitesOfProcessesAreOne) {
  define(1, Records().image(1, "/bin/net").unit(1, 1, test::sampleTable()));
  define(2, Records().image(7, "/bin/net").unit(7, 5000, test::sampleTable()));
  define(3, Records().image(1, "/bin/other").unit(1, 1, test::sampleTable()));
  EXPECT_EQ(catalog.find(1, 1), catalog.find(2, 5000));
  EXPECT_EQ(catalog.find(1, 3), catalog.find(2, 5002));
  EXPECT_NE(catalog.find(1, 1), catalog.find(3, 1)); // the images differ
  EXPECT_EQ(catalog.size(), 7u);
}

TEST_F(Catalog, EqualIdsWithOtherContentStayApart) {
  auto changed = test::sampleTable();
  changed.rows[0].line = 99;
  define(1, Records().image(1, "/a").unit(1, 1, test::sampleTable()).unit(1, 10, changed));
  EXPECT_NE(catalog.find(1, 1), catalog.find(1, 10));
  EXPECT_EQ(catalog.find(1, 2), catalog.find(1, 11));
}

TEST_F(Catalog, CallersHaveImageAndOffset) {
  define(1, Records().image(1, "/nowhere/libx.so", 0x7000));
  define(2, Records().image(3, "/nowhere/libx.so", 0x9000));
  const TraceWriter::CallerEntry one[] = {{5, 1, 0x7123}, {6, 1, 0x7124}}, two[] = {{8, 3, 0x9123}};
  catalog.addCallers(1, one);
  catalog.addCallers(2, two);
  const SiteId site = catalog.find(1, abi::kCallerSite | 5);
  EXPECT_EQ(site, catalog.find(2, abi::kCallerSite | 8));
  EXPECT_NE(site, catalog.find(1, abi::kCallerSite | 6));
  EXPECT_EQ(catalog.describe(site).origin, SiteOrigin::Hook);
  EXPECT_EQ(catalog.describe(site).library, "/nowhere/libx.so");
  EXPECT_EQ(catalog.describe(site).offset, 0x123u);
  EXPECT_EQ(catalog.describe(site).function, "");
  EXPECT_FALSE(catalog.find(1, 5).known());
}

// The call at offset 0x10 leads to the call at offset 0x20. The function called at 0x20 calls either the allocator at
// 0x30 or instrumented code at site 2.
TEST_F(Catalog, PathsOfSeveralProcessesAreOneTree) {
  define(1, Records().image(1, "/nowhere/net", 0x7000).unit(1, 1, test::sampleTable()));
  define(2, Records().image(5, "/nowhere/net", 0x9000).unit(5, 1, test::sampleTable()));
  const PathEntry one[] = {{2, abi::kPathBegin, 1, 0x7010},
                           {3, 2, 1, 0x7020},
                           {4, 3, 1, 0x7030},
                           {5, 3, abi::kImageOfSite, 2},
                           {6, abi::kPathUnknown, 1, 0x7030}};
  const PathEntry two[] = {{2, abi::kPathBegin, 5, 0x9010}, {3, 2, 5, 0x9020}, {4, 3, abi::kImageOfSite, 2}};
  catalog.addPaths(1, one);
  catalog.addPaths(2, two);
  const SiteId whole = catalog.find(1, abi::kPathSite | 4), ends_in_site = catalog.find(1, abi::kPathSite | 5),
               unfinished = catalog.find(1, abi::kPathSite | 6);
  EXPECT_EQ(ends_in_site, catalog.find(2, abi::kPathSite | 4));
  EXPECT_NE(whole, unfinished);
  EXPECT_EQ(catalog.describe(whole).offset, 0x30u);
  EXPECT_EQ(catalog.describe(unfinished).offset, 0x30u);
  EXPECT_EQ(&catalog.describe(ends_in_site), &catalog.describe(catalog.find(1, 2)));
  const CallPath path = catalog.callPathOf(ends_in_site);
  ASSERT_EQ(path.calls.size(), 3u);
  EXPECT_TRUE(path.complete);
  EXPECT_EQ(path.calls[0], catalog.find(1, 2));
  EXPECT_EQ(catalog.describe(path.calls[1]).offset, 0x20u);
  EXPECT_EQ(catalog.describe(path.calls[2]).offset, 0x10u);
  EXPECT_FALSE(catalog.callPathOf(unfinished).complete);
  EXPECT_EQ(catalog.callPathOf(catalog.find(1, 2)).calls, std::vector{catalog.find(1, 2)});
}

TEST_F(Catalog, PathsThroughALibraryThatCameBackElsewhereAreOne) {
  define(1, Records().image(1, "/nowhere/net", 0x7000).image(2, "/nowhere/lib.so", 0x8000));
  define(1, Records().image(3, "/nowhere/lib.so", 0xa000));
  const PathEntry entries[] = {
      {2, abi::kPathBegin, 1, 0x7010}, {3, 2, 2, 0x8020}, {4, 2, 3, 0xa020}, {5, 2, 3, 0xa021}};
  catalog.addPaths(1, entries);
  EXPECT_EQ(catalog.find(1, abi::kPathSite | 3), catalog.find(1, abi::kPathSite | 4));
  EXPECT_NE(catalog.find(1, abi::kPathSite | 3), catalog.find(1, abi::kPathSite | 5));
}

TEST_F(Catalog, HostilePathsAreUnknownOrEnd) {
  define(1, Records().image(1, "/nowhere/net"));
  const PathEntry entries[] = {{2, 2, 1, 0x10}, // is its own parent
                               {3, 4, 1, 0x20}, // is defined before its parent
                               {4, 3, 1, 0x30},          {0, 0, 1, 0x40},
                               {UINT32_MAX, 2, 1, 0x50}, {5, 4, abi::kImageOfSite, 9999}};
  catalog.addPaths(1, entries);
  for (uint32_t number = 0; number < 10; ++number)
    EXPECT_LE(catalog.callPathOf(catalog.find(1, abi::kPathSite | number)).calls.size(), 4u);
  EXPECT_FALSE(catalog.find(1, abi::kPathSite | 0).known());
  EXPECT_FALSE(catalog.find(1, abi::kPathSite | 77).known());
  EXPECT_FALSE(catalog.find(7, abi::kPathSite | 2).known());
  EXPECT_EQ(catalog.describe(catalog.find(1, abi::kPathSite | 5)).origin, SiteOrigin::Unknown);
}

TEST_F(Catalog, HostileDefinitionsAreNoted) {
  catalog.addDefinitions(1, bytesOf("nonsense that is long enough to be a header"));
  EXPECT_EQ(catalog.notes().size(), 1u);
  define(1, Records().unit(1, 0, test::sampleTable()));          // the unit has no base
  define(1, Records().unit(1, 0x7fffffff, test::sampleTable())); // overlaps the numbers of callers
  define(1, Records().add(abi::DefinitionKind::Unit, "xy"));
  define(1, Records().add(abi::DefinitionKind::Image, "xy"));
  define(1, Records().add(abi::DefinitionKind::Unit, raw(abi::UnitDefinition{1, 5}) + "no table"));
  EXPECT_EQ(catalog.notes().size(), 6u);
  EXPECT_EQ(catalog.size(), 4u); // the table itself was valid
  const TraceWriter::CallerEntry entries[] = {{UINT32_MAX, 1, 5}, {1, 9, 0}};
  catalog.addCallers(1, entries);
  EXPECT_EQ(catalog.size(), 4u);
  define(1, Records().add(static_cast<abi::DefinitionKind>(77), "newer"));
  define(1, Records().add(abi::DefinitionKind::Note, "libfoo.so is not armed"));
  EXPECT_EQ(catalog.notes().back(), "libfoo.so is not armed");
}

TEST_F(Catalog, EveryTruncatedRecordLeavesTheEarlierOnes) {
  const std::string image = Records().image(1, "/bin/net").bytes;
  const std::string whole = Records().image(1, "/bin/net").unit(1, 1, test::sampleTable()).bytes;
  for (size_t size = image.size() + 1; size < whole.size() - 7; ++size) {
    SiteCatalog cut(symbolizer);
    cut.addDefinitions(1, bytesOf(whole.substr(0, size)));
    EXPECT_FALSE(cut.find(1, 1).known());
    EXPECT_EQ(cut.notes().size(), 1u) << size;
  }
}

// One invalid unit with a high number must not make the catalog reserve a table for all lower numbers.
TEST_F(Catalog, HighNumbersCostNoMoreThanLowOnes) {
  const auto allocated = [] {
    const auto heap = mallinfo2();
    return heap.uordblks + heap.hblkhd;
  };
  define(1, Records().image(1, "/bin/net").unit(1, 1, test::sampleTable()));
  const size_t before = allocated();
  constexpr uint32_t kHigh = 0x3ffffc00;
  define(1, Records().image(1, "/bin/net").unit(1, kHigh, test::sampleTable()));
  EXPECT_LT(allocated() - before, 1u << 20); // mallinfo2() returns zeros if a sanitizer replaces malloc
  EXPECT_EQ(catalog.find(1, kHigh), catalog.find(1, 1));
  EXPECT_TRUE(catalog.find(1, kHigh).known());
  EXPECT_FALSE(catalog.find(1, kHigh - 1).known());
  EXPECT_FALSE(catalog.find(1, kHigh / 2).known());
}

// Tests the catalog with compiled code. An event of a hook contains the return address in the caller.
class CatalogOnImages : public test::ElfFixture {};

TEST_F(CatalogOnImages, CallersAreNamedWhenShown) {
  write("code.c", "int before(void) { return 1; } int caller(void) { return before() + 1; }");
  run("$CC -shared -fPIC -O0 code.c -o libcode.so && nm libcode.so | awk '$3==\"caller\"{print $1}' > at");
  const auto text = readBytes(folder / "at");
  const uint64_t at = std::stoull(std::string(reinterpret_cast<const char *>(text.data()), text.size()), nullptr, 16);
  Symbolizer symbolizer;
  SiteCatalog catalog(symbolizer);
  catalog.addDefinitions(1, bytesOf(Records().image(1, (folder / "libcode.so").string(), 0x10000).bytes));
  const TraceWriter::CallerEntry entries[] = {{0, 1, 0x10000 + at + 9}, {1, 1, 0x10000 + at}};
  catalog.addCallers(1, entries);
  EXPECT_EQ(catalog.describe(catalog.find(1, abi::kCallerSite)).function, "caller");
  // The return address is the first address of `caller`. So the call is the last instruction of the function before it.
  EXPECT_NE(catalog.describe(catalog.find(1, abi::kCallerSite | 1)).function, "caller");
}

} // namespace msleaks::analysis
