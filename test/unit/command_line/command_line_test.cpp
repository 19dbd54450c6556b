// Tests the command line of our programs: accepted and refused arguments, the help, and its machine-readable
// description.
#include "analysis/base/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace msleaks::analysis {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// A program like msleaks: it has options, a command with rarely used options, and a command that forwards its
// arguments.
class CommandLineTest : public testing::Test {
protected:
  CommandLineTest() {
    line.version("tool 7");
    line.option("--level", level, "how much is told").suggest({"few", "many"});
    CommandLine &show = line.command("show", "shows a run", [this] { chosen = "show"; });
    show.option("RUN", run, "folder of a run").required();
    show.option("--top", top, "rows").between(1, 9).showDefault();
    show.option("--sort", sort, "order").oneOf({"bytes", "age"});
    show.group("Details", Shown::InFullHelp);
    show.option("--min", least_bytes, "leave out what has less").byteSize();
    show.option("--drop", drop, "leave out").oneAtATime();
    line.command("with", "runs a program", [this] { chosen = "with"; }).passOn(rest);
  }

  std::string refusalOf(const std::vector<std::string> &arguments) {
    const auto text = line.parse(arguments);
    EXPECT_FALSE(text);
    EXPECT_TRUE(text || text.error().status == ExitStatus::Usage);
    return text ? "" : text.error().message;
  }

  std::string level, run, sort, chosen;
  uint64_t top = 3, least_bytes = 0;
  std::vector<std::string> drop, rest;
  CommandLine line{"tool", "A tool."};
};

TEST_F(CommandLineTest, OptionsOfTheProgramMayStandBehindTheCommand) {
  ASSERT_EQ(line.parse({"show", "a", "--min", "4KiB", "--level", "few"}), "");
  EXPECT_EQ(chosen, "show");
  EXPECT_EQ(run, "a");
  EXPECT_EQ(least_bytes, 4096u);
  EXPECT_EQ(level, "few");
  EXPECT_FALSE(line.passedOn());
}

TEST_F(CommandLineTest, AWordBehindTheValueOfARepeatedOptionIsNotItsValue) {
  ASSERT_EQ(line.parse({"show", "--drop", "x", "--drop", "y", "a"}), "");
  EXPECT_EQ(run, "a");
  EXPECT_THAT(drop, ElementsAre("x", "y"));
}

TEST_F(CommandLineTest, RefusesInOneLine) {
  EXPECT_EQ(refusalOf({"show"}), "RUN is required; see tool --help");
  EXPECT_EQ(refusalOf({"show", "a", "--nonsense"}),
            "The following argument was not expected: --nonsense; see tool --help");
  EXPECT_EQ(refusalOf({"show", "a", "--sort", "name"}), "--sort: name not in {bytes,age}; see tool --help");
  EXPECT_EQ(refusalOf({"show", "a", "--top", "10"}), "--top: Value 10 not in range 1 to 9; see tool --help");
}

TEST_F(CommandLineTest, HelpLeavesRareOptionsToTheFullHelp) {
  const std::string shorter = line.parse({"show", "--help"}).value();
  EXPECT_THAT(shorter, HasSubstr("--top UINT"));
  EXPECT_THAT(shorter, Not(HasSubstr("--min")));
  EXPECT_THAT(shorter, HasSubstr("More options: tool show --help-all"));
}

TEST_F(CommandLineTest, TheFullHelpHasThemInTheirGroup) {
  const std::string full = line.parse({"show", "--help-all"}).value();
  EXPECT_THAT(full, HasSubstr("Details:\n  --min"));
  EXPECT_THAT(full, Not(HasSubstr("More options")));
}

TEST_F(CommandLineTest, ACommandWithoutRareOptionsHasNoFullHelpToOffer) {
  CommandLine plain("plain", "A program.");
  plain.command("list", "lists", [] {});
  EXPECT_THAT(plain.parse({"list", "--help"}).value(), Not(HasSubstr("--help-all")));
}

TEST_F(CommandLineTest, PassesOnEveryWordAsItIs) {
  ASSERT_EQ(line.parse({"--level", "few", "with", "--help", "--", "show", "--top", "99"}), "");
  EXPECT_EQ(chosen, "with");
  EXPECT_TRUE(line.passedOn());
  EXPECT_THAT(rest, ElementsAre("--level", "few", "--help", "--", "show", "--top", "99"));
}

TEST(CommandLine, AValueMayHaveASecondWord) {
  const auto valueOf = [](const std::vector<std::string> &arguments) {
    CommandLine line("tool", "A program.");
    std::string metric, word;
    std::vector<std::string> rest;
    CommandLine &command = line.command("show", "shows", [] {});
    command.option("--metric", metric, "a figure").secondWordAfter("place");
    command.option("RUN", word, "a run");
    command.option("REST", rest, "a command");
    const auto text = line.parse(arguments);
    return text ? metric + "|" + word + "|" + (rest.empty() ? "" : rest.back()) : text.error().message;
  };
  EXPECT_EQ(valueOf({"show", "a", "--metric", "place", "net.c:3", "--", "make"}), "place net.c:3|a|make");
  EXPECT_EQ(valueOf({"show", "--metric", "place", "net.c:3", "a"}), "place net.c:3|a|");
  EXPECT_EQ(valueOf({"show", "--metric", "peak", "a"}), "peak|a|");
  EXPECT_EQ(valueOf({"show", "a", "--metric", "place", "--", "make"}), "place|a|make");
  EXPECT_EQ(valueOf({"show", "a", "--", "make", "--metric", "place", "b"}), "|a|b") << "words of another command";
}

TEST_F(CommandLineTest, VersionIsALineOfItsOwn) { EXPECT_EQ(line.parse({"--version"}).value(), "tool 7\n"); }

TEST_F(CommandLineTest, CountsLeadingOptionsWithTheirValues) {
  EXPECT_EQ(line.countLeadingOptions({"--level", "few", "--version", "show", "--top"}), 3u);
  EXPECT_EQ(line.countLeadingOptions({"--level"}), 1u);
  EXPECT_EQ(line.countLeadingOptions({"--", "--level"}), 0u);
}

TEST_F(CommandLineTest, TellsProgramsWhatIsDeclared) {
  const auto json = nlohmann::json::parse(line.parse({"--describe-options"}).value());
  EXPECT_EQ(json["options"][0]["names"], nlohmann::json({"--level"}));
  EXPECT_EQ(json["options"][0]["choices"], nlohmann::json({"few", "many"}));
  ASSERT_EQ(json["commands"].size(), 2u);
  const auto &show = json["commands"][0];
  EXPECT_EQ(show["options"][0]["word"], "RUN");
  EXPECT_EQ(show["options"][1]["default"], "3");
  EXPECT_EQ(show["options"][3]["group"], "Details");
  EXPECT_TRUE(json["commands"][1]["passes_on"]);
}

TEST(ByteSize, WithAndWithoutUnit) {
  EXPECT_EQ(parseByteSize("1024"), 1024u);
  EXPECT_EQ(parseByteSize("4KiB"), 4096u);
  EXPECT_EQ(parseByteSize("10 mb"), 10u << 20);
  EXPECT_EQ(parseByteSize("4Q"), std::nullopt);
  EXPECT_EQ(parseByteSize(""), std::nullopt);
}

} // namespace
} // namespace msleaks::analysis
