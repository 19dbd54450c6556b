#include "analysis/text/site_text.h"

#include "analysis/findings/harmless.h"

#include <gtest/gtest.h>
#include <sstream>

namespace msleaks::analysis {
namespace {

SiteText sample() {
  SiteText site;
  site.id = 0xabc;
  site.origin = SiteOrigin::Pass;
  site.file = "/home/somebody/code/project/src/layers/convolutional_layer.c";
  site.line = 205;
  site.column = 17;
  site.function = "make_convolutional_layer(int, std::vector<float, std::allocator<float> > const&)";
  site.variable = "l.output";
  site.type = "float";
  return site;
}

std::string jsonOf(const SiteText &site) {
  std::ostringstream out;
  writeSiteJson(out, site);
  return out.str();
}

} // namespace

TEST(SiteText, JsonHasNullForUnknown) {
  EXPECT_EQ(jsonOf({}), R"({"id":null,"file":null,"line":null,"column":null,"function":null,"callee":null,"type":null,)"
                        R"("variable":null,"inlined_at":[],"origin":null})");
}

TEST(SiteText, PathsLoseTheDotsThatBuildSystemsAdd) {
  const std::pair<const char *, const char *> paths[] = {
      {"/src/./x.c", "/src/x.c"},     {"/src//x.c", "/src/x.c"}, {"./x.c", "x.c"},           {".//./x.c", "x.c"},
      {"/a/../b/x.c", "/a/../b/x.c"}, {"//x.c", "/x.c"},         {"a/.hid/x.", "a/.hid/x."}, {"", ""}};
  for (const auto &[path, shown] : paths) {
    Site site;
    site.file = path;
    const InlineFrame frame{.function = "f", .file = path};
    site.inlined_at = {&frame, 1};
    EXPECT_EQ(textOf(site).file, shown) << path;
    EXPECT_EQ(textOf(site).inlined_at[0].file, shown) << path;
  }
}

TEST(SiteText, JsonOfAPassSite) {
  SiteText site = sample();
  site.file = "a.c";
  site.function = "f";
  site.callee = "malloc";
  site.inlined_at = {{"g", "b.c", 3, 0}};
  EXPECT_EQ(
      jsonOf(site),
      R"({"id":"0000000000000abc","file":"a.c","line":205,"column":17,"function":"f","callee":"malloc",)"
      R"("type":"float","variable":"l.output","inlined_at":[{"function":"g","file":"b.c","line":3,"column":null}],)"
      R"("origin":"pass"})");
}

TEST(SiteText, JsonOfACallerOfAHook) {
  SiteText site;
  site.id = UINT64_MAX;
  site.origin = SiteOrigin::Hook;
  site.library = "/lib/libx.so";
  site.offset = 16;
  EXPECT_EQ(
      jsonOf(site),
      R"({"id":"ffffffffffffffff","file":null,"line":null,"column":null,"function":null,"callee":null,"type":null,)"
      R"("variable":null,"inlined_at":[],"origin":"hook","library":"/lib/libx.so","offset":16})");
}

TEST(SiteText, JsonEscapesOddNames) {
  SiteText site;
  site.origin = SiteOrigin::Pass;
  site.file = "a\"b\\c\n\x1b\xff<script>";
  EXPECT_NE(jsonOf(site).find(R"("file":"a\"b\\c\n\u001b)"
                              "\xef\xbf\xbd"
                              R"(<script>")"),
            std::string::npos)
      << jsonOf(site);
}

TEST(SiteText, PlacesFitTheirColumn) {
  const SiteText site = sample();
  EXPECT_EQ(placeOf(site, 200), site.file + ":205:17");
  EXPECT_EQ(placeOf(site, 47), ".../src/layers/convolutional_layer.c:205:17");
  SiteText caller;
  caller.origin = SiteOrigin::Hook;
  EXPECT_EQ(placeOf(caller, 47), "(unknown library)+0x0");
  caller.library = "/usr/lib/libx.so";
  caller.offset = 0x1a2b;
  EXPECT_EQ(placeOf(caller, 47), "libx.so+0x1a2b");
  EXPECT_EQ(placeOf({}, 47), "(unknown place)");
}

// The name of the method distinguishes two places of a class.
TEST(SiteText, NamesKeepTheMethod) {
  SiteText site;
  site.function = "Index<int, float, Euclidean, Kiss64Random>::growToHoldAtLeast(unsigned long)";
  site.variable = "this->nodes_";
  EXPECT_EQ(nameOf(site, 60), "in Index<...>::growToHoldAtLeast(...) -> this->nodes_");
  EXPECT_EQ(nameOf(site, 40), "in growToHoldAtLeast -> this->nodes_");
}

TEST(SiteText, NamesLoseParametersBeforeTheRest) {
  SiteText site = sample();
  EXPECT_EQ(nameOf(site, 200), "in make_convolutional_layer(int, std::vector<float> const&) -> l.output (float)");
  EXPECT_EQ(nameOf(site, 60), "in make_convolutional_layer(...) -> l.output (float)");
  EXPECT_EQ(nameOf(site, 40), "in make_convolutional_layer -> l.output") << "its own name stays";
  EXPECT_EQ(nameOf(site, 20), "in make_co...l_layer");
  site.function.clear();
  EXPECT_EQ(nameOf(site, 40), "-> l.output (float)");
  EXPECT_EQ(nameOf({}, 40), "");
  site.function = "operator()(int) const";
  site.variable = site.type = "";
  EXPECT_EQ(nameOf(site, 22), "in operator()(...)");
  EXPECT_EQ(nameOf(site, 40), "in operator()(int) const");
}

TEST(SiteText, SystemHeadersNameTheirUser) {
  SiteText site = sample();
  EXPECT_EQ(userPlaceOf(site, 80), "");
  site.file = "/usr/lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/bits/new_allocator.h";
  EXPECT_EQ(userPlaceOf(site, 80), "");
  site.inlined_at = {{"std::vector<int>::reserve(unsigned long)", "/usr/include/c++/12/vector", 70, 1},
                     {"net::make(int)", "src/net.cpp", 40, 5},
                     {"main", "src/main.cpp", 9, 3}};
  EXPECT_EQ(userPlaceOf(site, 80), "from src/net.cpp:40:5 in net::make(int)");
  EXPECT_EQ(userPlaceOf(site, 34), "from src/net.cpp:40:5 in make(...)");
  EXPECT_EQ(userPlaceOf(site, 22), "from src/net.cpp:40:5");
  site.file = "/home/u/venv/lib/python3.12/site-packages/torch/include/c10/util/intrusive_ptr.h";
  EXPECT_EQ(userPlaceOf(site, 22), "from src/net.cpp:40:5");
}

TEST(Suppressions, NoMoreBlocksThanAProcessKeeps) {
  Site site;
  site.origin = SiteOrigin::Hook;
  site.library = "/lib/libc.so.6";
  site.function = "_IO_file_doallocate";
  const auto harmless = [&](uint64_t blocks) {
    const Remains remains{abi::Heap::Host, blocks * 4096, blocks, 4096, 0, 0};
    const Suppression *row = suppressionOf(site, {}, remains);
    return row && keepsNoMore(*row, remains);
  };
  EXPECT_TRUE(harmless(3)); // the blocks of stdin, stdout and stderr
  EXPECT_FALSE(harmless(4)) << "somebody forgets files";
}

TEST(Suppressions, OnlyWhatLibrariesKeepForThemselves) {
  Site site;
  site.origin = SiteOrigin::Hook;
  const auto reason = [&](const char *library, const char *function, uint64_t bytes) {
    site.library = library;
    site.function = function;
    return suppressionOf(site, {}, {abi::Heap::Host, bytes, 1, bytes, 0, 0});
  };
  EXPECT_NE(reason("/lib/libstdc++.so.6", "", 72704), nullptr);
  EXPECT_EQ(reason("/lib/libstdc++.so.6", "", 72703), nullptr);
  EXPECT_EQ(reason("/lib/libstdc++.so.6", "_Znwm", 72704), nullptr);
  EXPECT_NE(reason("/lib64/ld-linux-x86-64.so.2", "_dl_new_object", 10), nullptr);
  EXPECT_NE(reason("/lib/libc.so.6", "_IO_file_doallocate", 4096), nullptr);
  EXPECT_NE(reason("/lib/libc.so.6", "__register_printf_modifier", 16), nullptr) << "libquadmath calls it at its load";
  // The program must free the blocks that these functions return. So they are not suppressed.
  for (const char *function : {"strdup", "getline", "fopen", "asprintf", "realpath", ""})
    EXPECT_EQ(reason("/lib/libc.so.6", function, 100), nullptr) << function;
  EXPECT_EQ(reason("/home/me/libc.so.6.mine", "setlocale", 100), nullptr);
  // If libc has no symbols, the name of the exported function that the program called decides whether the block is
  // suppressed.
  site.library = "/lib/libc.so.6";
  site.function = "";
  const Remains one{abi::Heap::Host, 100, 1, 100, 0, 0};
  EXPECT_NE(suppressionOf(site, std::vector<std::string_view>{"", "localtime_r"}, one), nullptr);
  EXPECT_EQ(suppressionOf(site, std::vector<std::string_view>{"", "opendir"}, one), nullptr);
  // libc does not export these functions, so their names are known only with libc's debug symbols. localtime() uses the
  // first three, and setenv() uses the last one.
  for (const char *function : {"__tzfile_read", "__tzstring_len", "tzset_internal", "__add_to_environ"})
    EXPECT_NE(reason("/lib/libc.so.6", function, 17), nullptr) << function;
  EXPECT_EQ(reason("/lib/libc.so.6", "strdup", 15), nullptr) << "the name of the time zone, or anybody's text";
  site.origin = SiteOrigin::Pass;
  EXPECT_EQ(reason("/lib/libc.so.6", "setlocale", 100), nullptr);
}

} // namespace msleaks::analysis
