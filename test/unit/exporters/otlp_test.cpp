// The expected messages are written by hand from profiles.proto of OpenTelemetry.
#include "path_formats.h"
#include "protobuf_message.h"

#include <vector>

namespace msleaks::analysis {
namespace {

class OtlpFile {
public:
  explicit OtlpFile(const Report &report, Blocks blocks = Blocks::Peak)
      : data_(test::exported("otlp", report, blocks)), tables_(data_.message(2, 0)), resource_(data_.message(1, 0)),
        scope_(resource_.message(2, 0)) {}

  std::string text(uint64_t number) const { return tables_.texts.at(5).at(number); }
  std::string program() const { return resource_.message(1, 0).message(1, 0).message(2, 0).texts.at(1).at(0); }
  size_t profiles() const { return scope_.texts.at(2).size(); }
  std::string typeOf(size_t number) const {
    const test::Message type = profile(number).message(1, 0);
    return text(type.number(1)) + "/" + text(type.number(2));
  }
  std::vector<uint64_t> valuesOf(size_t number) const {
    std::vector<uint64_t> values;
    const test::Message of = profile(number);
    if (of.texts.contains(2))
      for (size_t sample = 0; sample < of.texts.at(2).size(); ++sample)
        values.push_back(of.message(2, sample).packed(4).at(0));
    return values;
  }
  // The lines of a sample, the innermost first: "function file:line:column @library+address".
  std::vector<std::string> linesOf(size_t sample) const {
    std::vector<std::string> lines;
    const test::Message stack = tables_.message(7, profile(0).message(2, sample).number(1));
    for (const uint64_t number : stack.packed(1)) {
      const test::Message location = tables_.message(2, number), mapping = tables_.message(1, location.number(1));
      for (const std::string &bytes : location.texts.at(3)) {
        const test::Message line(bytes), function = tables_.message(3, line.number(1));
        lines.push_back(text(function.number(1)) + " " + text(function.number(3)) + ":" +
                        std::to_string(line.number(2)) + ":" + std::to_string(line.number(3)) + " @" +
                        text(mapping.number(4)) + "+" + std::to_string(location.number(2)));
      }
    }
    return lines;
  }
  test::Message profile(size_t number) const { return scope_.message(2, number); }
  const test::Message &tables() const { return tables_; }

private:
  test::Message data_, tables_, resource_, scope_;
};

} // namespace

TEST(Otlp, AProfileForEachValue) {
  const OtlpFile file(test::smallReport());
  ASSERT_EQ(file.profiles(), 2u);
  EXPECT_EQ(file.typeOf(0), "inuse_space/bytes") << "viewers show the first profile";
  EXPECT_EQ(file.typeOf(1), "inuse_objects/count");
  EXPECT_EQ(file.valuesOf(0), (std::vector<uint64_t>{1000, 500, 24, 100}));
  EXPECT_EQ(file.valuesOf(1), (std::vector<uint64_t>{2, 1, 3, 1}));
  EXPECT_EQ(file.profile(0).number(4), 5'000'000u);
  EXPECT_EQ(file.program(), "net");
}

TEST(Otlp, StacksBeginWithTheAllocatorsCaller) {
  const OtlpFile file(test::smallReport());
  using Lines = std::vector<std::string>;
  const std::string inner = "grow(int) net.cpp:7:3 @/bin/net+0", inlined_at = "make() net.cpp:20:5 @/bin/net+0";
  EXPECT_EQ(file.linesOf(0), (Lines{inner, inlined_at, "main main.cpp:3:0 @/bin/net+0"}));
  EXPECT_EQ(file.linesOf(1), (Lines{inner, inlined_at, "forward model.py:12:0 @+0"}));
  EXPECT_EQ(file.linesOf(2), (Lines{inner, inlined_at}));
  EXPECT_EQ(file.linesOf(3), (Lines{"libx.so+0x7123 :0:0 @/lib/libx.so+28963"}));
}

// In each table of the format, the number 0 means that there is nothing.
TEST(Otlp, EachTableBeginsWithNothing) {
  const test::Message tables = OtlpFile(test::smallReport()).tables();
  for (const int table : {1, 2, 3, 4, 5, 6, 7})
    EXPECT_EQ(tables.texts.at(table).at(0), "") << table;
}

TEST(Otlp, LeaksIfTheyAreChosen) {
  const OtlpFile file(test::smallReport(), Blocks::Leaks);
  EXPECT_EQ(file.valuesOf(0), std::vector<uint64_t>{64});
}

TEST(Otlp, NoBlocksAreNoSamples) { EXPECT_EQ(OtlpFile(Report{}).valuesOf(0), std::vector<uint64_t>{}); }

TEST(Otlp, AnyNameIsShown) {
  for (const test::HostileName &hostile : test::kHostileNames) {
    const OtlpFile file(test::reportOf(hostile));
    EXPECT_EQ(file.linesOf(0),
              std::vector<std::string>{hostile.written + " " + hostile.written + ":1:0 @" + hostile.written + "+0"});
    EXPECT_EQ(file.program(), hostile.written);
  }
}

} // namespace msleaks::analysis
