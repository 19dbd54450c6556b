#include "analysis/profiles/disassembly.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace msleaks::analysis::profiles {

// As objdump of binutils and of LLVM print them.
TEST(Disassembly, LinesThatAreInstructions) {
  Instruction instruction;
  ASSERT_TRUE(parseInstruction("    1139:\tcall   1020 <f@plt>", instruction));
  EXPECT_EQ(instruction.address, 0x1139u);
  EXPECT_EQ(instruction.text, "\tcall   1020 <f@plt>");
  ASSERT_TRUE(parseInstruction("  7ffff0:      \tjmp\t0x10 <a::b>", instruction));
  EXPECT_EQ(instruction.address, 0x7ffff0u);
  for (const char *line : {"", ":", "    ", "hot:     file format elf64-x86-64", "Disassembly of section .text:",
                           "0000000000001139 <mix>:", "0000000000001139 <a::b>:", "\t...", " 1139 :", "11 39: x"})
    EXPECT_FALSE(parseInstruction(line, instruction)) << line;
}

TEST(Disassembly, RangesNearEachOtherAreOneRun) {
  EXPECT_EQ(joined({}), (std::vector<AddressRange>{}));
  EXPECT_EQ(joined({{0, 10}, {20, 30}, {25, 28}, {1'000'000, 1'000'001}}),
            (std::vector<AddressRange>{{0, 30}, {1'000'000, 1'000'001}}));
  EXPECT_EQ(joined({{0, 200 << 10}, {200 << 10, 201 << 10}, {202 << 10, 203 << 10}}),
            (std::vector<AddressRange>{{0, 200 << 10}, {200 << 10, 203 << 10}}))
      << "a long one leaves the rest to another, beside it";
  std::vector<AddressRange> many;
  for (uint64_t i = 0; i < 1000; ++i)
    many.push_back({i << 20, (i << 20) + 1});
  const auto runs = joined(many);
  EXPECT_LE(runs.size(), 64u);
  EXPECT_EQ(runs.back().end, many.back().end);
}

TEST(Disassembly, AProgramThatIsNotThereIsAUsageError) {
  const auto found = findObjdump("/no/such/objdump");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().status, ExitStatus::Usage);
}

// A stand-in says what it was asked for, so this needs no objdump.
TEST(Disassembly, AsksOncePerRun) {
  const auto folder = std::filesystem::temp_directory_path() / ("objdump-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const auto program = folder / "objdump";
  std::ofstream(program) << "#!/bin/sh\necho \"  10:\t$*\"\necho 'no instruction'\necho \"   c:\t$LC_ALL\"\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const auto instructions = disassemble(program, "/image; x", {{0x10, 0x20}, {0x30, 0x40}});
  ASSERT_EQ(instructions.size(), 2u);
  EXPECT_EQ(instructions[0].text, "\tC");
  EXPECT_EQ(instructions[1].text, "\t-d --no-show-raw-insn --start-address=0x10 --stop-address=0x40 /image; x");
  EXPECT_TRUE(disassemble("/no/such", "/image", {{0, 1}}).empty());
  EXPECT_TRUE(disassemble(program, "/image", {}).empty());
  std::filesystem::remove_all(folder);
}

} // namespace msleaks::analysis::profiles
