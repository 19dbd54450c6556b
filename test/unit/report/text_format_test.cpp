#include "analysis/base/text.h"

#include <gtest/gtest.h>

namespace msleaks::analysis {

TEST(TextFormat, Bytes) {
  EXPECT_EQ(bytesText(0), "0 B");
  EXPECT_EQ(bytesText(1023), "1023 B");
  EXPECT_EQ(bytesText(1024), "1.00 KiB");
  EXPECT_EQ(bytesText(1536), "1.50 KiB");
  EXPECT_EQ(bytesText(12 << 20), "12.0 MiB");
  EXPECT_EQ(bytesText((1 << 20) - 1), "1.00 MiB"); // never "1024.0 KiB"
  EXPECT_EQ(bytesText(uint64_t{5} << 30), "5.00 GiB");
  EXPECT_EQ(bytesText(UINT64_MAX), "16.0 EiB");
}

TEST(TextFormat, DurationsAndCounts) {
  EXPECT_EQ(durationText(0), "0 ns");
  EXPECT_EQ(durationText(1500), "1.5 us");
  EXPECT_EQ(durationText(12'300'000), "12.3 ms");
  EXPECT_EQ(durationText(4'200'000'000), "4.20 s");
  EXPECT_EQ(durationText(185'000'000'000), "3 min 5 s");
  EXPECT_EQ(durationText(uint64_t{9000} * 1'000'000'000), "2 h 30 min");
  EXPECT_EQ(countText(0), "0");
  EXPECT_EQ(countText(999), "999");
  EXPECT_EQ(countText(1000), "1,000");
  EXPECT_EQ(countText(1234567), "1,234,567");
}

TEST(TextFormat, NamesDoNotSteerTheTerminal) {
  EXPECT_EQ(printable("plain name"), "plain name");
  EXPECT_EQ(printable("a\x1b[31mb\n\tc\x7f"), "a\\x1b[31mb\\x0a\\x09c\\x7f");
  EXPECT_EQ(printable("gr\xc3\xb6\xc3\x9f"
                      "e"),
            "gr\xc3\xb6\xc3\x9f"
            "e");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\\xc2\\x9b2J"); // the one-character form of ESC [
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82");
}

TEST(TextFormat, CutsCharactersNotBytes) {
  EXPECT_EQ(cutEnd("short", 5), "short");
  EXPECT_EQ(cutEnd("longer one", 7), "long...");
  EXPECT_EQ(cutEnd("\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6", 4), "\xc3\xb6...");
  EXPECT_EQ(cutBegin("longer one", 7), "... one");
  EXPECT_EQ(cutMiddle("allocate_everything", 11), "allo...hing");
  EXPECT_EQ(cutMiddle("allocate_everything", 3), "...");
  EXPECT_EQ(cutEnd("abcdef", 2), "..");
  EXPECT_EQ(cutBegin("abcdef", 0), "");
  const std::string wide = "\u6f22\u5b57\u6f22\u5b57", combined = "e\u0301e\u0301e\u0301e\u0301";
  EXPECT_EQ(widthOf(wide), 8u);
  EXPECT_EQ(cutEnd(wide, 7), "\u6f22\u5b57...");
  EXPECT_EQ(cutEnd(wide, 6), "\u6f22...");
  EXPECT_EQ(cutBegin(wide, 6), "...\u5b57");
  EXPECT_EQ(widthOf(combined), 4u);
  EXPECT_EQ(cutEnd(combined, 4), combined);
  EXPECT_EQ(cutBegin(combined + "xy", 5), "...xy");
  EXPECT_EQ(cutEnd(std::string(4096, 'n'), 10), "nnnnnnn...");
}

TEST(TextFormat, PathsKeepTheirEnd) {
  EXPECT_EQ(shortPath("src/net.cpp", 20), "src/net.cpp");
  EXPECT_EQ(shortPath("/home/somebody/very/long/way/src/net.cpp", 20), ".../way/src/net.cpp");
  EXPECT_EQ(shortPath("/a_single_name_that_is_too_long.cpp", 20), "...t_is_too_long.cpp");
  EXPECT_EQ(shortPath("/home/somebody/very/long/way/src/net.cpp", 17), ".../src/net.cpp"); // cut at a slash
  EXPECT_EQ(baseName("/lib/libc.so.6"), "libc.so.6");
  EXPECT_EQ(baseName("libc.so.6"), "libc.so.6");
}

} // namespace msleaks::analysis
