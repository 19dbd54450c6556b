// Tests which part of a PyTorch program an owner names.
#include "analysis/findings/torch_owner.h"

#include <gtest/gtest.h>

namespace msleaks::analysis {
namespace {

void expectOwner(std::string_view owner, std::string_view phase, std::string_view name) {
  const auto found = torchOwnerOf(owner);
  ASSERT_TRUE(found) << owner;
  EXPECT_EQ(found->phase, phase) << owner;
  EXPECT_EQ(found->name, name) << owner;
}

TEST(TorchOwner, HasAPhaseAndAName) {
  expectOwner("pytorch@operator@aten::linear", "forward", "aten::linear");
  expectOwner("pytorch@backward@AddmmBackward0", "backward", "AddmmBackward0");
  expectOwner("pytorch@backward", "backward", "");
  expectOwner("pytorch@optimizer@AdamW.step", "optimizer", "AdamW.step");
}

TEST(TorchOwner, IsNoOtherOwner) {
  for (const char *owner :
       {"", "pytorch", "pytorch@", "pytorch@pool", "torch@operator@aten::linear", "/usr/lib/libc.so.6"})
    EXPECT_FALSE(torchOwnerOf(owner)) << owner;
}

} // namespace
} // namespace msleaks::analysis
