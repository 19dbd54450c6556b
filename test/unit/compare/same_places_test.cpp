// Tests how `msleaks check` and `msleaks compare` match the places (source lines) of two runs, although lines have
// moved.
#include "analysis/compare/same_places.h"

#include <gmock/gmock.h>

namespace msleaks::analysis {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Listed = std::vector<PlaceFigures>;

PlaceFigures at(uint32_t line, const char *variable = "rows", const char *function = "grow",
                const char *file = "/src/net.c") {
  PlaceFigures place;
  place.own = true;
  place.file = file;
  place.line = line;
  place.column = 7;
  place.function = function;
  place.variable = variable;
  place.callee = "malloc";
  place.library = "net";
  place.heap = "host";
  return place;
}

PlaceFigures with(uint64_t bytes, PlaceFigures place) {
  place.bytes = bytes;
  return place;
}

PlaceFigures in(const char *library) {
  PlaceFigures place;
  place.library = library;
  place.heap = "host";
  return place;
}

SamePlaces samePlacesOf(const Listed &before, const Listed &now) {
  return samePlaces(before, now, Relocation({before}, {now}));
}

// Returns the lines of the places that only the second run has.
std::vector<uint32_t> freshLines(const Listed &before, const Listed &now) {
  std::vector<uint32_t> lines;
  for (const size_t index : samePlacesOf(before, now).fresh)
    lines.push_back(now[index].line);
  return lines;
}

} // namespace

TEST(SamePlaces, AreThoseThatTwoLinesAtTheTopHaveMoved) {
  const SamePlaces same = samePlacesOf({at(10), at(20, "names"), at(30, "rows", "main")},
                                       {at(12), at(22, "names"), at(32, "rows", "main")});
  EXPECT_THAT(same.fresh, IsEmpty());
  EXPECT_THAT(same.gone, IsEmpty());
  EXPECT_THAT(same.pairs, ElementsAre(std::pair(0, 0), std::pair(1, 1), std::pair(2, 2)));
}

TEST(SamePlaces, OfAnotherFunctionVariableOrFileAreNew) {
  const Listed before{at(10)};
  EXPECT_THAT(freshLines(before, {at(10, "names")}), ElementsAre(10));
  EXPECT_THAT(freshLines(before, {with(64, at(10, "rows", "shrink"))}), ElementsAre(10));
  EXPECT_THAT(freshLines(before, {at(10), at(10, "rows", "grow", "/src/other.c")}), ElementsAre(10));
  EXPECT_THAT(freshLines({}, before), ElementsAre(10));
  EXPECT_THAT(samePlacesOf(before, {}).gone, ElementsAre(0));
}

TEST(SamePlaces, OfTheSameBlocksMayHaveOtherNames) {
  const Listed before{with(64, at(10)), with(32, at(20, "names"))};
  EXPECT_THAT(freshLines(before, {with(64, at(12, "rows", "enlarge")), with(32, at(22, "names", "enlarge"))}),
              IsEmpty())
      << "a function was renamed";
  EXPECT_THAT(
      freshLines(before, {with(64, at(10, "rows", "grow", "/src/a.c")), with(32, at(2, "names", "grow", "/src/b.c"))}),
      IsEmpty())
      << "it moved into other files";
  EXPECT_THAT(freshLines({with(64, at(10)), with(8, at(20, "q", "main"))},
                         {with(64, at(10, "rows", "enlarge", "/src/a.c")), with(8, at(20, "q", "main", "/src/a.c"))}),
              IsEmpty())
      << "the file was renamed, and one of its functions, too";
  EXPECT_THAT(freshLines(before, {with(64, at(10)), with(32, at(20, "names")), with(64, at(30, "rows", "enlarge"))}),
              ElementsAre(30))
      << "the function with the old name still has its places";
}

TEST(SamePlaces, OfOtherBlocksMayBeInARenamedFunction) {
  const Listed before{with(64, at(10)), with(32, at(20, "names"))};
  EXPECT_THAT(freshLines(before, {with(80, at(12, "rows", "grow_impl")), with(32, at(22, "names", "main"))}), IsEmpty())
      << "one name contains the other";
  EXPECT_THAT(freshLines(before, {with(80, at(12, "rows", "enlarge")), with(32, at(22, "names", "enlarge"))}),
              IsEmpty())
      << "another place of the function has moved with it";
  EXPECT_THAT(freshLines(before, {with(80, at(12, "rows", "enlarge")), with(32, at(22, "names"))}), ElementsAre(12))
      << "the function is still there";
  EXPECT_THAT(freshLines(before, {with(80, at(12, "rows", "grow", "/src/a.c")), with(32, at(2, "q", "main"))}),
              ElementsAre(2))
      << "it moved into another file";
}

TEST(SamePlaces, MayBeInAnotherInstanceOfATemplate) {
  const auto in = [](uint64_t bytes, const char *function, const char *type) {
    PlaceFigures place = with(bytes, at(317, "block", function, "/src/pool.h"));
    place.type = type;
    return place;
  };
  EXPECT_THAT(
      freshLines({in(72, "Pool<72>::take()", "Pool<72>::Block")}, {in(80, "Pool<80>::take()", "Pool<80>::Block")}),
      IsEmpty());
  EXPECT_THAT(
      freshLines({in(72, "Pool<72>::take()", "Pool<72>::Block")}, {in(80, "Pool<80>::give()", "Pool<80>::Block")}),
      ElementsAre(317));
}

TEST(SamePlaces, MayCallAnotherFunctionOfALibrary) {
  const auto calling = [](const char *callee, PlaceFigures place) {
    place.callee = callee;
    return place;
  };
  const Listed before{calling("operator new", with(64, at(7, "")))};
  EXPECT_THAT(freshLines(before, {calling("append", with(64, at(9, "")))}), IsEmpty()) << "the same blocks";
  EXPECT_THAT(freshLines(before, {calling("append", with(80, at(7, "")))}), IsEmpty()) << "the same line";
  EXPECT_THAT(freshLines(before, {calling("append", with(80, at(9, "")))}), ElementsAre(9));
}

TEST(SamePlaces, AreThoseToWhichTheSamePathsLed) {
  const auto by = [](uint64_t way, PlaceFigures place) {
    place.way = way;
    return place;
  };
  // At -O2, the plugin recognises `letterbox` as a wrapper. At -O0, it does not.
  const Listed before{by(1, at(823, "data", "letterbox")), by(2, at(589, "data", "predict"))};
  const Listed now{by(1, at(1201, "data", "resize")), by(2, at(824, "data", "letterbox"))};
  EXPECT_THAT(samePlacesOf(before, now).pairs, ElementsAre(std::pair(0, 0), std::pair(1, 1)));
  EXPECT_THAT(freshLines({by(1, at(10))}, {by(1, at(10, "names"))}), ElementsAre(10)) << "it is for something else";
}

TEST(SamePlaces, SayWhichOfSeveralInAFunctionIsNew) {
  EXPECT_THAT(freshLines({at(10), at(12)}, {at(12), at(13), at(14)}), ElementsAre(13)) << "two lines above them";
  EXPECT_THAT(freshLines({at(10), at(12)}, {at(8), at(10), at(12)}), ElementsAre(8)) << "none above them";
  EXPECT_THAT(freshLines({at(10), at(20)}, {at(10), at(29)}), IsEmpty()) << "a part of the function has moved";
}

TEST(SamePlaces, AreNotToldApartByWhatOneBuildDoesNotKnow) {
  EXPECT_THAT(freshLines({at(10, "rows")}, {at(10, "")}), IsEmpty()) << "the function was inlined into another one";
  EXPECT_THAT(freshLines({at(10, "")}, {at(12, "rows")}), IsEmpty());
  EXPECT_THAT(freshLines({at(10, "")}, {at(12, "rows"), at(14, "names")}).size(), 1u);
}

TEST(SamePlaces, MayLieInAnotherFolder) {
  const auto mine = [](const char *file, const char *function) { return at(10, "rows", function, file); };
  EXPECT_THAT(freshLines({mine("/home/me/net/src/net.c", "grow"), mine("/home/me/net/main.c", "main")},
                         {mine("/build/7/src/net.c", "grow"), mine("/build/7/main.c", "main")}),
              IsEmpty());
  EXPECT_THAT(freshLines({mine("src/net.c", "grow")}, {mine("/build/src/net.c", "grow")}), IsEmpty());
  EXPECT_THAT(freshLines({mine("/src/net.c", "grow")}, {mine("net.c", "grow")}), IsEmpty());
}

TEST(SamePlaces, MayLieInAnotherFolderThoughMostAreWhereTheyWere) {
  const Listed before{with(64, at(10, "l", "make", "/old/lib/x.c")), at(1, "q", "main", "/me/main.c"),
                      at(5, "r", "work", "/me/work.c")};
  const Listed now{with(32, at(12, "l", "make", "/new/lib/x.c")), at(1, "q", "main", "/me/main.c"),
                   at(5, "r", "work", "/me/work.c")};
  EXPECT_THAT(freshLines(before, now), IsEmpty()) << "the library was built in another folder, and not the program";
}

TEST(SamePlaces, OfEquallyNamedFilesAreToldApart) {
  const Listed before{at(1, "p", "init", "/net/a/init.c"), at(1, "q", "main", "/net/main.c"),
                      at(1, "r", "work", "/net/work.c"), at(9, "s", "other", "/net/b/init.c")};
  const Listed now{with(64, at(1, "p", "init", "/net/b/init.c")), at(2, "q", "main", "/net/main.c"),
                   at(2, "r", "work", "/net/work.c")};
  EXPECT_THAT(samePlacesOf(before, now).fresh, ElementsAre(0));
  EXPECT_THAT(samePlacesOf(before, now).gone, ElementsAre(0, 3));
}

TEST(SamePlaces, OfALibraryHaveNoLines) {
  EXPECT_THAT(samePlacesOf({in("libx.so.1")}, {in("libx.so.1"), in("liby.so")}).fresh, ElementsAre(1));
  PlaceFigures stripped = at(0, "", "", "");
  stripped.offset = 0x100;
  PlaceFigures moved = stripped;
  moved.offset = 0x180;
  EXPECT_THAT(samePlacesOf({stripped}, {moved}).fresh, IsEmpty());
  EXPECT_THAT(samePlacesOf({stripped}, {stripped, moved}).fresh, ElementsAre(1));
}

TEST(SamePlaces, OfAChildAreNotThoseOfTheProgram) {
  PlaceFigures child = at(10);
  child.child = "helper";
  EXPECT_THAT(samePlacesOf({at(10)}, {child}).fresh, ElementsAre(0));
}

TEST(SamePlaces, OfAGeneratedFunctionAreManyAndFast) {
  Listed before, now;
  for (uint32_t line = 1; line <= 30'000; ++line) {
    before.push_back(at(line));
    now.push_back(at(line + 3));
  }
  now.push_back(at(2));
  EXPECT_THAT(freshLines(before, now), ElementsAre(2));
}

} // namespace msleaks::analysis
