// Tests that the part of a function is found which the compiler has moved away.
#include "unwind/moved_part.h"

#include <cstdint>
#include <gtest/gtest.h>

#if defined(__x86_64__)
#define MSL_IF_NEGATIVE "test %edi, %edi\n js "
#define MSL_JUMP "jmp "
#elif defined(__aarch64__)
#define MSL_IF_NEGATIVE "tbz w0, #31, . + 8\n b "
#define MSL_JUMP "b "
#endif

// Functions as GCC writes them. The first one enters its cold part at two places, and the second one at one place. The
// third one ends in tail calls of another function.
asm(".text\n"
    "msl_test_split:\n .cfi_startproc\n" MSL_IF_NEGATIVE "1f\n " MSL_IF_NEGATIVE "2f\n ret\n .cfi_endproc\n"
    "msl_test_once:\n .cfi_startproc\n" MSL_IF_NEGATIVE "3f\n ret\n nop\n nop\n .cfi_endproc\n"
    "msl_test_tail:\n .cfi_startproc\n" MSL_IF_NEGATIVE "4f\n " MSL_JUMP "msl_test_called\n 4: " MSL_JUMP
    "msl_test_called\n nop\n .cfi_endproc\n"
    ".section .text.unlikely, \"ax\"\n"
    "msl_test_cold:\n .cfi_startproc\n nop\n 1: nop\n 2: ret\n .cfi_endproc\n"
    "msl_test_other_cold:\n .cfi_startproc\n nop\n 3: ret\n .cfi_endproc\n"
    "msl_test_called:\n .cfi_startproc\n ret\n .cfi_endproc\n"
    ".text\n");
extern "C" const char msl_test_split[], msl_test_once[], msl_test_tail[], msl_test_cold[];

namespace msleaks::test {
namespace {

uint64_t addressOf(const char *code) { return reinterpret_cast<uint64_t>(code); }

TEST(MovedPart, IsFoundByJumpsIntoIt) {
  EXPECT_EQ(runtime::unwind::movedPartOf(addressOf(msl_test_split)), addressOf(msl_test_cold));
}

TEST(MovedPart, OneJumpIsNotEnough) { EXPECT_EQ(runtime::unwind::movedPartOf(addressOf(msl_test_once)), 0u); }

TEST(MovedPart, ATailCallLeadsToAnotherFunction) {
  EXPECT_EQ(runtime::unwind::movedPartOf(addressOf(msl_test_tail)), 0u);
}

TEST(MovedPart, OfWhatIsNoBeginOfAFunction) {
  static const uint64_t data = 0;
  for (const uint64_t address : {uint64_t{0}, addressOf(msl_test_split) + 1, reinterpret_cast<uint64_t>(&data)})
    EXPECT_EQ(runtime::unwind::movedPartOf(address), 0u);
}

} // namespace
} // namespace msleaks::test
