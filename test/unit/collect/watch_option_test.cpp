// Tests that --watch accepts a line, an address or a name, and refuses everything else.
#include "analysis/collect/watch_option.h"

#include <gtest/gtest.h>

namespace msleaks::analysis {
namespace {

abi::WatchWish wishOf(const char *text) {
  const auto option = parseWatch(text);
  EXPECT_TRUE(option.has_value()) << text;
  return option ? option->wish : abi::WatchWish{};
}

} // namespace

TEST(WatchOption, NamesABlockByItsLineAddressOrName) {
  const abi::WatchWish line = wishOf("src/net.cpp:12:64");
  EXPECT_EQ(line.kind, abi::WatchKind::Line);
  EXPECT_STREQ(line.what, "src/net.cpp");
  EXPECT_EQ(line.line, 12u);
  EXPECT_EQ(line.bytes, 64u);
  const abi::WatchWish address = wishOf("0x1000:8");
  EXPECT_EQ(address.kind, abi::WatchKind::Address);
  EXPECT_EQ(address.address, 0x1000u);
  for (const char *name : {"weights", "layer1.0.conv.weight", "model/block:weights"})
    EXPECT_EQ(wishOf(name).kind, abi::WatchKind::Name) << name;
}

TEST(WatchOption, RefusesWhatIsNoLineAddressOrName) {
  for (const char *text : {"net.cpp", "src/net.cpp", "net.cpp:x", "net.cpp:12:x", "net.cpp:0", "kernels.cl:-1", "0x12q",
                           "0x", "0", "0:8", "0x10:0", "0x10:x", "weights:0", ""}) {
    const auto option = parseWatch(text);
    ASSERT_FALSE(option.has_value()) << text;
    EXPECT_EQ(option.error().status, ExitStatus::Usage) << text;
    EXPECT_EQ(option.error().message.find('\n'), std::string::npos) << text;
  }
}

} // namespace msleaks::analysis
