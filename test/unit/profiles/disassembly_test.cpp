#include "analysis/counts/disassembly.h"

#include "analysis/counts/code_extract.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace msleaks::analysis::profiles {
namespace {

[[gnu::noinline, gnu::section("text_of_a_test")]] int inASectionOfItsOwn(int x) { return std::abs(x) * 3; }

std::string outputOf(const std::string &command) {
  FILE *pipe = ::popen(command.c_str(), "r");
  std::string output;
  char buffer[4096];
  for (size_t count; (count = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    output.append(buffer, count);
  EXPECT_EQ(::pclose(pipe), 0) << command;
  return output;
}

} // namespace

// The lines have the formats of objdump from binutils and from LLVM.
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

// The test replaces objdump by a script that prints its arguments.
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

// Disassembles parts of the test's own program: its entry and some functions, one of them in a separate section.
TEST(Disassembly, AnExtractShowsWhatTheImageShows) {
  const std::string objdump = *findObjdump("");
  if (objdump.empty())
    GTEST_SKIP() << "no objdump on this machine";
  const std::string image = std::filesystem::canonical("/proc/self/exe");
  Dl_info here{};
  ASSERT_NE(::dladdr(reinterpret_cast<void *>(&inASectionOfItsOwn), &here), 0);
  const auto base = reinterpret_cast<uint64_t>(here.dli_fbase);
  std::vector<AddressRange> ranges;
  for (const auto function : {reinterpret_cast<uint64_t>(&inASectionOfItsOwn), reinterpret_cast<uint64_t>(&disassemble),
                              reinterpret_cast<uint64_t>(&findObjdump), reinterpret_cast<uint64_t>(&joined)})
    ranges.push_back({function - base, function - base + 8}); // shorter than each of the functions
  std::sort(ranges.begin(), ranges.end(), [](const auto &left, const auto &right) { return left.begin < right.begin; });
  const auto extract = CodeExtract::of(image, ranges);
  ASSERT_TRUE(extract);
  const std::string shown = outputOf(objdump + " -d --no-show-raw-insn " + extract->path());
  for (const AddressRange &range : ranges) {
    const std::string wanted =
        outputOf(objdump + " -d --no-show-raw-insn --start-address=" + std::to_string(range.begin) +
                 " --stop-address=" + std::to_string(range.end) + " " + image);
    const size_t code = wanted.find(">:\n");
    ASSERT_NE(code, std::string::npos) << wanted;
    EXPECT_NE(shown.find(wanted.substr(code)), std::string::npos) << wanted << "is not in\n" << shown;
  }
  EXPECT_LT(shown.size(), 100'000u) << "more than the ranges";
  EXPECT_FALSE(CodeExtract::of("/proc/self/maps", ranges));
  EXPECT_TRUE(CodeExtract::pays(image, 5));
  EXPECT_FALSE(CodeExtract::pays("/bin/true", 1));
}

} // namespace msleaks::analysis::profiles
