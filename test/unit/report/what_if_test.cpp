// Tests which places of a run match the user's text, such as "train.cpp:203".
#include "analysis/result/what_if.h"

#include <gtest/gtest.h>

namespace msleaks::analysis {

TEST(WhatIf, APlaceIsNamedByItsEndOfAPath) {
  SiteText site;
  site.file = "/home/user/net/src/train.cpp";
  site.line = 203;
  site.column = 12;
  for (const char *by : {"train.cpp:203", "src/train.cpp:203", "train.cpp:203:12", "/home/user/net/src/train.cpp:203"})
    EXPECT_TRUE(isNamed(site, by)) << by;
  for (const char *by : {"rain.cpp:203", "train.cpp:20", "train.cpp:2031", "train.cpp", "train.cpp:203:1", ""})
    EXPECT_FALSE(isNamed(site, by)) << by;
}

TEST(WhatIf, OrByItsFunctionOrVariable) {
  SiteText site;
  site.function = "net::Layer::grow(unsigned long)";
  site.variable = "this->raw_";
  for (const char *by :
       {"grow", "Layer::grow", "net::Layer::grow", "net::Layer::grow(unsigned long)", "raw_", "this->raw_"})
    EXPECT_TRUE(isNamed(site, by)) << by;
  for (const char *by : {"row", "er::grow", "aw_", "this", "unsigned long"})
    EXPECT_FALSE(isNamed(site, by)) << by;
}

} // namespace msleaks::analysis
