#include "analysis/places/labels.h"

#include "definition_bytes.h"

#include "analysis/places/site_catalog.h"

#include <gtest/gtest.h>

namespace msleaks::analysis {
namespace {

using test::bytesOf;
using test::Records;

ProcessStart processWith(uint32_t process, uint32_t pid, uint64_t time_ns, Ancestor ancestor = {}) {
  ProcessStart start{};
  start.process = process;
  start.pid = pid;
  start.time_ns = time_ns;
  start.ancestor = ancestor;
  return start;
}

class LabelTexts : public testing::Test {
protected:
  void define(uint32_t process, const Records &records) { labels.addDefinitions(process, bytesOf(records.bytes)); }
  Labels labels;
};

TEST_F(LabelTexts, NumbersMeanTextsOfTheirProcess) {
  define(1, Records().label(1, "forward").label(2, "").image(1, "/bin/net"));
  define(2, Records().label(1, "backward"));
  EXPECT_EQ(labels.textOf(1, 1), "forward");
  EXPECT_EQ(labels.textOf(2, 1), "backward");
  EXPECT_TRUE(labels.find(1, 2).known());
  EXPECT_EQ(labels.textOf(1, 2), "");
  for (const uint64_t number : {uint64_t{0}, uint64_t{3}, uint64_t{1} << 32 | 1, UINT64_MAX})
    EXPECT_FALSE(labels.find(1, number).known()) << number;
  EXPECT_FALSE(labels.find(3, 1).known());
  EXPECT_EQ(labels.textOf(3, 1), "");
  EXPECT_EQ(labels.textOf(LabelId{1000}), "");
  EXPECT_TRUE(labels.notes().empty());
}

TEST_F(LabelTexts, EqualTextsOfProcessesAreOne) {
  define(1, Records().label(1, "a").label(2, "b"));
  define(2, Records().label(1, "b").label(7, "a").label(8, "b"));
  EXPECT_EQ(labels.find(1, 1), labels.find(2, 7));
  EXPECT_EQ(labels.find(1, 2), labels.find(2, 1));
  EXPECT_EQ(labels.find(2, 8), labels.find(2, 1));
  EXPECT_NE(labels.find(1, 1), labels.find(1, 2));
  EXPECT_EQ(labels.size(), 3u) << "dense: indexes 1 and 2";
  EXPECT_LT(labels.find(2, 8).index, labels.size());
}

// Process 3 is a child of process 2, which is a child of process 1. If a parent defines a label after the fork, the
// child does not have this label. The child may use the number of the label for another text.
TEST_F(LabelTexts, AChildFindsWhatItsAncestorsDefined) {
  labels.addProcess(processWith(1, 11, 1000));
  labels.addProcess(processWith(2, 22, 2000));
  labels.addProcess(processWith(3, 33, 3000, {22, 2000}));
  define(3, Records().label(3, "own"));
  define(2, Records().inherited(11, 1000).label(2, "parent's"));
  define(1, Records().label(1, "first").label(2, "later").label(3, "much later"));
  EXPECT_EQ(labels.textOf(3, 1), "first");
  EXPECT_EQ(labels.textOf(3, 2), "parent's");
  EXPECT_EQ(labels.textOf(3, 3), "own");
  EXPECT_EQ(labels.textOf(1, 2), "later");
  EXPECT_FALSE(labels.find(3, 4).known());
}

TEST_F(LabelTexts, AncestorsThatGoRoundOrAreUnknownAreNone) {
  labels.addProcess(processWith(1, 11, 1000, {22, 2000}));
  labels.addProcess(processWith(2, 22, 2000, {11, 1000}));
  labels.addProcess(processWith(3, 33, 3000, {77, 1}));
  labels.addProcess(processWith(4, 44, 4000, {44, 4000}));
  define(2, Records().label(1, "here"));
  EXPECT_EQ(labels.textOf(1, 1), "here");
  for (const uint32_t process : {1u, 2u, 3u, 4u})
    EXPECT_FALSE(labels.find(process, 2).known());
}

TEST_F(LabelTexts, HostileLabelsAreNotedOnce) {
  define(1, Records().add(abi::DefinitionKind::String, "short").add(abi::DefinitionKind::String, ""));
  define(1, Records().add(abi::DefinitionKind::Inherited, "short").label(1, "good").label(0, "none"));
  define(1, Records().label(UINT32_MAX, "high").add(static_cast<abi::DefinitionKind>(77), "newer"));
  EXPECT_EQ(labels.notes().size(), 1u);
  EXPECT_EQ(labels.textOf(1, 1), "good");
  EXPECT_EQ(labels.textOf(1, UINT32_MAX), "high");
  EXPECT_FALSE(labels.find(1, 0).known());
}

TEST_F(LabelTexts, EveryTruncatedRecordLeavesTheEarlierOnes) {
  const std::string first = Records().label(1, "first").bytes,
                    whole = Records().label(1, "first").label(2, "second").bytes;
  for (size_t size = first.size() + 1; size < whole.size() - 2; ++size) { // the last two bytes are padding
    Labels cut;
    cut.addDefinitions(1, bytesOf(whole.substr(0, size)));
    EXPECT_EQ(cut.textOf(1, 1), "first");
    EXPECT_FALSE(cut.find(1, 2).known()) << size;
    EXPECT_EQ(cut.notes().size(), 1u) << size;
  }
}

TEST_F(LabelTexts, EveryFlippedByteOfATextIsNoticed) {
  const std::string whole = Records().label(1, "first").bytes;
  for (size_t at = 0; at < sizeof(abi::DefinitionHeader) + sizeof(abi::StringDefinition) + 5; ++at) {
    std::string flipped = whole;
    flipped[at] ^= 0x20;
    Labels read;
    read.addDefinitions(1, bytesOf(flipped));
    const bool of_its_kind = at >= 4 && at < 8; // the checksum covers only the record's body
    EXPECT_FALSE(read.find(1, 1).known()) << at;
    EXPECT_EQ(read.notes().size(), of_its_kind ? 0u : 1u) << at;
  }
}

// The catalog reads sites and labels in one pass over the definitions. So a damaged record must give one note, not two.
TEST_F(LabelTexts, TheCatalogHasThem) {
  Symbolizer symbolizer;
  SiteCatalog catalog(symbolizer);
  catalog.addProcess(processWith(1, 11, 1000));
  catalog.addProcess(processWith(2, 22, 2000, {11, 1000}));
  const std::string whole = Records().label(1, "first").label(2, "second").bytes;
  catalog.addDefinitions(1, bytesOf(whole.substr(0, whole.size() - 4)));
  catalog.addDefinitions(1, bytesOf(Records().add(abi::DefinitionKind::String, "short").bytes));
  EXPECT_EQ(catalog.labels().textOf(2, 1), "first");
  EXPECT_EQ(catalog.notes().size(), 2u);
  EXPECT_TRUE(catalog.labels().notes().empty());
}

} // namespace
} // namespace msleaks::analysis
