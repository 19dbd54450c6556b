// Tests the watch of an operation's output (__msl_hook_output): the file with its content names the type of its
// elements.
#include "callbacks_fixture.h"

#include "msleaks/api.h"

#include <cstring>
#include <filesystem>
#include <fstream>

namespace msleaks::test {
namespace {

// Returns the file that the runtime writes for an output of 64 elements of this type, each of one byte.
std::string fileOfOutput(const char *type) {
  const SessionDirectory session;
  const auto folder = session.path() / "content";
  std::filesystem::create_directory(folder);
  abi::WatchWish &wish = session.control().watch;
  wish.kind = abi::WatchKind::Output;
  std::strcpy(wish.begin, "relu");
  std::strcpy(wish.folder, folder.c_str());
  EXPECT_EQ(session.runChild([type] {
    static char block[64];
    const int64_t extent = sizeof block;
    const hook::Output output{sizeof output, 0, block, sizeof block, type, 1, &extent};
    msl_range_push("relu");
    __msl_hook_output(&output);
    msl_range_pop();
  }),
            0);
  std::ifstream file(folder / "1.safetensors", std::ios::binary);
  return {(std::istreambuf_iterator<char>(file)), {}};
}

TEST(WatchOutput, ALongNameOfATypeIsWhole) {
  EXPECT_NE(fileOfOutput("F8_E4M3").find(R"("dtype":"F8_E4M3")"), std::string::npos);
  EXPECT_NE(fileOfOutput("F8_E4M3FNUZ").find(R"("dtype":"F8_E4M3FNUZ")"), std::string::npos);
}

TEST(WatchOutput, ANameThatDoesNotFitIsNotCutOff) {
  EXPECT_NE(fileOfOutput("F8_OF_ANOTHER_PROGRAM").find(R"("dtype":"U8")"), std::string::npos);
}

} // namespace
} // namespace msleaks::test
