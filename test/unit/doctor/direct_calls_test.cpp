#include "analysis/second_run/library_file.h"

#include <gmock/gmock.h>

namespace msleaks::analysis {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::byte> bytes(std::initializer_list<unsigned> values) {
  std::vector<std::byte> code;
  for (const unsigned value : values)
    code.push_back(static_cast<std::byte>(value));
  return code;
}

std::set<uint64_t> found(Processor processor, const std::vector<std::byte> &code) {
  return calledDirectly(processor, code, 0x1000, {0x0ffe, 0x1005, 0x1104, 0x2000});
}

TEST(DirectCalls, CallAndJumpOfX86) {
  EXPECT_THAT(found(Processor::X86_64, bytes({0xe8, 0, 0, 0, 0})), ElementsAre(0x1005));
  EXPECT_THAT(found(Processor::X86_64, bytes({0x90, 0xe9, 0xfe, 0, 0, 0})), ElementsAre(0x1104));
  EXPECT_THAT(found(Processor::X86_64, bytes({0xe8, 0xf9, 0xff, 0xff, 0xff})), ElementsAre(0x0ffe)) << "backwards";
  EXPECT_THAT(found(Processor::X86_64, bytes({0xeb, 0, 0, 0, 0})), IsEmpty()) << "another instruction";
  EXPECT_THAT(found(Processor::X86_64, bytes({0xe8, 0, 0, 0})), IsEmpty()) << "cut off";
  EXPECT_THAT(found(Processor::X86_64, {}), IsEmpty());
}

TEST(DirectCalls, BranchesOfAArch64) {
  EXPECT_THAT(found(Processor::AArch64, bytes({0x41, 0, 0, 0x94})), ElementsAre(0x1104)) << "bl";
  EXPECT_THAT(found(Processor::AArch64, bytes({0x41, 0, 0, 0x14})), ElementsAre(0x1104)) << "b";
  EXPECT_THAT(calledDirectly(Processor::AArch64, bytes({0xff, 0xff, 0xff, 0x97}), 0x1000, {0xffc}), ElementsAre(0xffc));
  EXPECT_THAT(found(Processor::AArch64, bytes({0x41, 0, 0, 0x54})), IsEmpty()) << "a conditional branch";
  EXPECT_THAT(found(Processor::AArch64, bytes({0x41, 0, 0x94})), IsEmpty()) << "cut off";
}

TEST(DirectCalls, OfAnotherProcessorNothingIsKnown) {
  EXPECT_THAT(found(Processor::Other, bytes({0xe8, 0, 0, 0, 0})), IsEmpty());
}

} // namespace
} // namespace msleaks::analysis
