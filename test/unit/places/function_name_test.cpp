// Tests that a shortened function name still contains the function's own name.
#include "analysis/places/function_name.h"

#include <gtest/gtest.h>

namespace msleaks::analysis {
namespace {

using Forms = std::vector<std::string>;

TEST(FunctionName, LosesParametersThenArgumentsThenNamespaces) {
  EXPECT_EQ(formsOf("engine::Index<int, Dist<float> >::grow(unsigned long, std::vector<int> const&) const"),
            (Forms{"engine::Index<int, Dist<float> >::grow(unsigned long, std::vector<int> const&) const",
                   "engine::Index<int, Dist<float> >::grow(...)", "engine::Index<...>::grow(...)",
                   "...::Index<...>::grow(...)", "grow(...)", "grow"}));
  EXPECT_EQ(formsOf("read_part"), (Forms{"read_part"})) << "a function of C";
}

TEST(FunctionName, TheTypeOfTheResultIsNoPart) {
  EXPECT_EQ(formsOf("unsigned long search<Index>(long, Index)").back(), "search");
  EXPECT_EQ(formsOf("std::pair<int, int> net::make<int>(int)")[1], "net::make<int>(...)");
}

TEST(FunctionName, OperatorsAreNames) {
  EXPECT_EQ(formsOf("net::Bag::operator()(int) const").back(), "operator()");
  EXPECT_EQ(formsOf("net::operator<<(std::ostream&, net::Bag const&)").back(), "operator<<");
  EXPECT_EQ(formsOf("operator new[](unsigned long)").back(), "operator new[]");
  EXPECT_EQ(formsOf("operators::run(unsigned)")[1], "operators::run(...)");
}

TEST(FunctionName, ALambdaIsInItsFunction) {
  EXPECT_EQ(formsOf("run(int)::{lambda(int)#1}::operator()(int) const").back(), "operator()");
  EXPECT_EQ(briefName("(anonymous namespace)::load(char const*)"), "load");
}

TEST(FunctionName, OfOneThatIsCutNothingIsLost) {
  for (const char *odd : {"broken<int", "", "(", "::", "a::", "<>", "operator", "[clone .cold]"})
    EXPECT_EQ(formsOf(odd).front(), odd);
}

TEST(FunctionName, SentencesNameTheClassAndTheFunction) {
  EXPECT_EQ(briefName("engine::tokenizer::Lattice<int>::NewNode(int)"), "Lattice::NewNode");
  EXPECT_EQ(briefName("main"), "main");
  EXPECT_EQ(withoutTemplateArguments("std::vector<float, std::allocator<float> >"), "std::vector<...>");
}

} // namespace
TEST(FunctionName, PythonsNamesHaveNoTemplateArguments) {
  EXPECT_EQ(formsOf("main.<locals>.<lambda>"), (std::vector<std::string>{"main.<locals>.<lambda>", "<lambda>"}));
  EXPECT_EQ(briefName("Model.forward.<locals>.<listcomp>"), "<listcomp>");
  EXPECT_EQ(briefName("<module>"), "<module>");
  EXPECT_EQ(briefName("Model.forward"), "Model.forward");
}

} // namespace msleaks::analysis
