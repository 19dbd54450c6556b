// Tests the file that `msleaks check --junit` writes.
#include "analysis/compare/verdict.h"

#include <gmock/gmock.h>
#include <sstream>

namespace msleaks::analysis {
namespace {

using testing::HasSubstr;
using testing::Not;

// The run needs 1,000 bytes and leaks 100 of them at a place of this file.
RunFigures figuresOf(const char *file) {
  PlaceFigures place;
  place.own = true;
  place.file = file;
  place.line = 10;
  place.heap = "host";
  place.bytes = 100;
  place.count = 1;
  RunFigures figures;
  figures.command = {"/bin/net"};
  figures.peak = {1000, {place}};
  figures.leaks.bytes = 100;
  figures.leaks.count = 1;
  figures.leaks.places = {place};
  return figures;
}

std::string junitOf(const RunFigures &figures, const Limits &limits) {
  std::ostringstream out;
  writeVerdictJunit(out, *judge(figures, std::nullopt, limits));
  return out.str();
}

} // namespace

TEST(VerdictJunit, ACaseForEachLimit) {
  Limits limits;
  limits.peak = AtMostBytes{2000};
  limits.leak_bytes = 99;
  const std::string text = junitOf(figuresOf("src/net.c"), limits);
  const std::string cases = text.substr(0, text.find("    <system-out>"));
  EXPECT_EQ(cases, R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="msleaks check" tests="4" failures="1" errors="0" skipped="1">
  <testsuite name="msleaks check net" tests="4" failures="1" errors="0" skipped="1">
    <testcase classname="msleaks.net" name="peak"/>
    <testcase classname="msleaks.net" name="leaked">
      <failure type="limit" message="100 B, limit: 99 B">src/net.c:10: 100 B in 1 block
</failure>
    </testcase>
    <testcase classname="msleaks.net" name="leaking places"><skipped message="1, limit: none"/></testcase>
    <testcase classname="msleaks.net" name="recording"/>
)");
  EXPECT_THAT(text, HasSubstr("    <system-out>### msleaks check: failed\n"));
}

TEST(VerdictJunit, AnIncompleteRecordingFails) {
  RunFigures figures = figuresOf("src/net.c");
  figures.gaps = {"3 events were dropped"};
  EXPECT_THAT(junitOf(figures, {}),
              HasSubstr("name=\"recording\">\n      <failure type=\"limit\" message=\"3 events were "
                        "dropped\"></failure>\n"));
  Limits limits;
  limits.incomplete_allowed = true;
  EXPECT_THAT(junitOf(figures, limits), HasSubstr("name=\"recording\"><skipped message=\"3 events were dropped\"/>"));
}

TEST(VerdictJunit, NoNameIsMarkup) {
  Limits limits;
  limits.leak_bytes = 0;
  RunFigures figures = figuresOf("a<b>&\"]]>\x01\xff\xef\xbf\xbf.c");
  figures.command = {"/bin/a<\"&\n"};
  const std::string text = junitOf(figures, limits);
  EXPECT_THAT(text, HasSubstr(">a&#60;b&#62;&#38;&#34;]]&#62;\\x01\\xff\\xef\\xbf\\xbf.c:10: 100 B in 1 block\n"));
  EXPECT_THAT(text, HasSubstr("classname=\"msleaks.a&#60;&#34;&#38;\\x0a\""));
  EXPECT_THAT(text, Not(HasSubstr("b>&")));
}

} // namespace msleaks::analysis
