// The expected messages are written by hand from profile.proto.
#include "path_formats.h"
#include "protobuf_message.h"

#include <vector>
#include <zlib.h>

namespace msleaks::analysis {
namespace {

std::string unpacked(const std::string &gzip) {
  std::string content(1 << 20, '\0');
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(gzip.data()));
  stream.avail_in = static_cast<uInt>(gzip.size());
  stream.next_out = reinterpret_cast<Bytef *>(content.data());
  stream.avail_out = static_cast<uInt>(content.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  EXPECT_EQ(stream.avail_in, 0u);
  content.resize(stream.total_out);
  inflateEnd(&stream);
  return content;
}

test::Message profileOf(const Report &report, Blocks blocks = Blocks::Peak) {
  return test::Message(unpacked(test::exported("pprof", report, blocks)));
}

// The lines of a sample, the innermost first: "function file:line:column @library+address".
std::vector<std::string> linesOf(const test::Message &profile, size_t sample) {
  const auto &strings = profile.texts.at(6);
  std::vector<std::string> lines;
  for (const uint64_t id : profile.message(2, sample).packed(1)) {
    const test::Message location = profile.message(4, id - 1);
    EXPECT_EQ(location.number(1), id);
    std::string image = " @";
    if (const uint64_t mapping = location.number(2))
      image += strings.at(profile.message(3, mapping - 1).number(5));
    image += "+" + std::to_string(location.number(3));
    for (const std::string &bytes : location.texts.at(4)) {
      const test::Message line(bytes);
      const test::Message function = profile.message(5, line.number(1) - 1);
      EXPECT_EQ(function.number(1), line.number(1));
      EXPECT_EQ(function.number(3), 0u) << "the linkage name is not known";
      lines.push_back(strings.at(function.number(2)) + " " + strings.at(function.number(4)) + ":" +
                      std::to_string(line.number(2)) + ":" + std::to_string(line.number(3)) + image);
    }
  }
  return lines;
}

} // namespace

TEST(Pprof, EachByteOfASmallProfile) {
  Report report;
  SiteLine line;
  line.site = test::callTo("f", "f.c", 300);
  line.bytes = 7;
  line.count = 1;
  report.peak.by_site = {line};
  report.duration_ns = 5;
  const std::string strings[] = {"",         "inuse_objects",
                                 "count",    "inuse_space",
                                 "bytes",    "msleaks: (unknown program): alive at the peak",
                                 "/bin/net", "f",
                                 "f.c"};
  std::string wanted("\x0a\x04\x08\x01\x10\x02"             // sample type: inuse_objects, count
                     "\x0a\x04\x08\x03\x10\x04"             // sample type: inuse_space, bytes
                     "\x12\x07\x0a\x01\x01\x12\x02\x01\x07" // sample at location 1: 1 block, 7 bytes
                     "\x1a\x0c\x08\x01\x28\x06\x38\x01\x40\x01\x48\x01\x50\x01" // mapping 1
                     "\x22\x0b\x08\x01\x10\x01\x22\x05\x08\x01\x10\xac\x02"     // location 1: mapping 1, line 300
                     "\x2a\x06\x08\x01\x10\x07\x20\x08");                       // function 1
  for (const std::string &text : strings)
    wanted += "\x32" + std::string(1, static_cast<char>(text.size())) + text;
  wanted += "\x50\x05"     // duration
            "\x6a\x01\x05" // comment
            "\x70\x03";    // default sample type
  EXPECT_EQ(unpacked(test::exported("pprof", report)), wanted);
}

TEST(Pprof, SamplesBeginWithTheAllocatorsCaller) {
  const test::Message profile = profileOf(test::smallReport());
  using Lines = std::vector<std::string>;
  const std::string inner = "grow(int) net.cpp:7:3 @/bin/net+0", inlined_at = "make() net.cpp:20:5 @/bin/net+0";
  EXPECT_EQ(linesOf(profile, 0), (Lines{inner, inlined_at, "main main.cpp:3:0 @/bin/net+0"}));
  EXPECT_EQ(linesOf(profile, 1), (Lines{inner, inlined_at, "forward model.py:12:0 @+0"}));
  EXPECT_EQ(linesOf(profile, 2), (Lines{inner, inlined_at}));
  EXPECT_EQ(linesOf(profile, 3), (Lines{"libx.so+0x7123 :0:0 @/lib/libx.so+28963"}));
  std::vector<std::vector<uint64_t>> values;
  for (size_t sample = 0; sample < profile.texts.at(2).size(); ++sample)
    values.push_back(profile.message(2, sample).packed(2));
  EXPECT_EQ(values, (std::vector<std::vector<uint64_t>>{{2, 1000}, {1, 500}, {3, 24}, {1, 100}}));
  EXPECT_EQ(profile.texts.at(4).size(), 4u) << "a call that several paths contain is one location";
}

TEST(Pprof, LeaksIfTheyAreChosen) {
  const test::Message profile = profileOf(test::smallReport(), Blocks::Leaks);
  ASSERT_EQ(profile.texts.at(2).size(), 1u);
  EXPECT_EQ(profile.message(2, 0).packed(2), (std::vector<uint64_t>{1, 64}));
  EXPECT_EQ(profile.texts.at(6).at(profile.packed(13).at(0)), "msleaks: net: leaks");
}

TEST(Pprof, EqualReportsAreEqualFiles) {
  EXPECT_EQ(test::exported("pprof", test::smallReport()), test::exported("pprof", test::smallReport()));
}

TEST(Pprof, NoBlocksAreNoSamples) { EXPECT_FALSE(profileOf(Report{}).texts.contains(2)); }

TEST(Pprof, LargeNumbersKeepAllBits) {
  Report report = test::smallReport();
  report.peak.by_site[1].bytes = UINT64_MAX >> 1;
  EXPECT_EQ(profileOf(report).message(2, 3).packed(2).at(1), UINT64_MAX >> 1);
}

TEST(Pprof, AnyNameIsShown) {
  for (const test::HostileName &hostile : test::kHostileNames) {
    const test::Message profile = profileOf(test::reportOf(hostile));
    EXPECT_EQ(linesOf(profile, 0),
              std::vector<std::string>{hostile.written + " " + hostile.written + ":1:0 @" + hostile.written + "+0"});
  }
}

} // namespace msleaks::analysis
