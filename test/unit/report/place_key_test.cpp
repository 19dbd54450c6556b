// Tests the keys of places and the ids of paths, which are the same in every build and on every machine.
#include "report_fixture.h"

#include "analysis/result/place_key.h"

#include <set>

namespace msleaks::analysis {
namespace {

SiteLine inSource(const char *file, uint32_t number) {
  SiteLine line;
  line.site.file = file;
  line.site.line = number;
  line.site.function = "net::grow()";
  line.site.variable = "rows";
  return line;
}

SiteLine inLibrary(const char *library, const char *function, uint64_t offset) {
  SiteLine line;
  line.site.origin = SiteOrigin::Hook;
  line.site.library = library;
  line.site.function = function;
  line.site.offset = offset;
  return line;
}

uint64_t idOfCall(const SiteText &call) {
  PathLine path;
  path.calls.push_back(std::make_shared<const SiteText>(call));
  return idOf(path);
}

} // namespace

TEST(PlaceKey, IsTheSameOnEachMachine) {
  EXPECT_EQ(keyOf(inSource("/home/me/net/src/net.cpp", 3)), keyOf(inSource("/build/7/src/net.cpp", 30)));
  EXPECT_NE(keyOf(inSource("/net/src/net.cpp", 3)), keyOf(inSource("/net/test/net.cpp", 3)));
  EXPECT_EQ(keyOf(inSource("net.cpp", 3)).file, "net.cpp");
}

TEST(PlaceKey, OfALibraryHasItsNameAndFunction) {
  EXPECT_EQ(keyOf(inLibrary("/opt/libx-d0da41ae.so.1", "make", 0x10)),
            keyOf(inLibrary("/usr/lib/libx.so.2", "make", 0x20)));
  EXPECT_NE(keyOf(inLibrary("/usr/lib/libx.so", "", 0x10)), keyOf(inLibrary("/usr/lib/libx.so", "", 0x20)));
}

TEST(PlaceKey, OfAPathHasTheFunctionsOfItsCalls) {
  EXPECT_EQ(idOfCall(inSource("a.cpp", 3).site), idOfCall(inSource("a.cpp", 9).site));
  EXPECT_NE(idOfCall(inSource("a.cpp", 3).site), idOfCall(inLibrary("/lib/libx.so", "make", 1).site));
  EXPECT_EQ(idOf(PathLine{}), 0u);
}

// The two leaks are at two lines of one function, and their variables are unknown.
TEST_F(ReportTest, FindingsThatDifferOnlyInTheirLineHaveIdsOfTheirOwn) {
  const json report = reportOf({test::alloc(100, 0x1000, 1'000'000, kOne), test::alloc(200, 0x2000, 1'000'000, kTwo)});
  std::set<std::string> ids;
  for (const json &finding : report["findings"])
    EXPECT_TRUE(ids.insert(finding["id"]).second) << finding["id"];
  EXPECT_GE(ids.size(), 2u);
}

} // namespace msleaks::analysis
