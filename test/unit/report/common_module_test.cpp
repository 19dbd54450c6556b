// Tests the name of the modules that have allocated the blocks of a finding.
#include "analysis/findings/common_module.h"

#include <gtest/gtest.h>
#include <initializer_list>

namespace msleaks::analysis {
namespace {

std::string nameOf(std::initializer_list<std::string_view> modules) {
  CommonModule common;
  for (const std::string_view module : modules)
    common.add(module, 100);
  return common.name();
}

} // namespace

TEST(CommonModule, NamesWhatAllHaveInCommon) {
  EXPECT_EQ(nameOf({"Net.fc", "Net.fc"}), "Net.fc");
  EXPECT_EQ(nameOf({"Net.layers.0.attn", "Net.layers.1.attn", "Net.layers.2.attn"}), "Net.layers.*.attn");
  EXPECT_EQ(nameOf({"Net.layers.0.attn", "Net.layers.1.mlp"}), "Net.layers.*.*");
  EXPECT_EQ(nameOf({"Net.layers.0", "Net.layers.1", "Net.layers.1.mlp"}), "Net.layers");
  EXPECT_EQ(nameOf({"Net", "Net.fc"}), "Net");
  EXPECT_EQ(nameOf({"Net.fc", "MSELoss.fc"}), "");
  EXPECT_EQ(nameOf({"Net", "MSELoss", "Net"}), "");
}

TEST(CommonModule, LeavesOutSmallSums) {
  CommonModule common;
  common.add("Net.layers.0", 500);
  common.add("Net.layers.1", 450);
  common.add("Net.layers.1.fc", 50);
  EXPECT_EQ(common.name(), "Net.layers.*");
  common.add("Net.layers.1.fc", 500);
  EXPECT_EQ(common.name(), "Net.layers");
}

TEST(CommonModule, NeedsMostOfTheBytes) {
  EXPECT_EQ(nameOf({}), "");
  EXPECT_EQ(nameOf({"Net", ""}), "");
  EXPECT_EQ(nameOf({"", "Net", "Net"}), "Net");
}

} // namespace msleaks::analysis
