// Tests how the runtime reads Python's code: the tables of lines, the table of codes, texts, and where each version
// stores its calls.
#include "python/code_table.h"
#include "python/layout.h"
#include "python/line_table.h"
#include "python/text.h"

#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <vector>

namespace msleaks::runtime::python {
namespace {

struct Lines {
  uint64_t begin; // the offset of the first instruction of these lines
  int32_t line;
};

// The table of a function, as this version of Python has compiled it, and the lines that Python itself names. The
// function has a line more than 127 lines after the one before, lines that go back, and instructions without a line.
struct Compiled {
  uint32_t minor;
  std::vector<uint8_t> table;
  std::vector<Lines> lines;
  uint64_t size;
};

const Compiled kFunctions[] = {
    {9,
     {0, 1, 6, 2, 6, 254, 6, 4, 4, 127, 0, 4, 2, 2, 2, 254, 4, 3, 10, 1, 2, 1, 2, 255},
     {{0, 2}, {6, 4}, {12, 2}, {18, 6}, {22, 137}, {24, 139}, {26, 137}, {30, 140}, {40, 141}, {42, 142}, {44, 141}},
     82},
    {10,
     {6, 1, 6, 2, 6, 254, 4, 4, 0, 127, 2, 4, 2, 2, 4, 254, 10, 3, 2, 1, 2, 1, 2, 255, 36, 255},
     {{0, 2},
      {6, 4},
      {12, 2},
      {18, 6},
      {22, 137},
      {24, 139},
      {26, 137},
      {30, 140},
      {40, 141},
      {42, 142},
      {44, 141},
      {46, 140}},
     82},
    {11,
     {128, 0,   240, 2,   3,   9,   6,   240, 0,   3,   9,   6,   229, 17, 22,  144, 113, 145, 24,  148, 24,  240,
      5,   3,   9,   6,   241, 0,   3,   9,   6,   244, 0,   3,   9,   6,  128, 65,  240, 8,   0,   8,   9,   240,
      0,   69,  2,   5,   15,  245, 70,  4,   0,   15,  25,  224, 12,  13, 241, 5,   2,   15,  15,  244, 0,   2,
      15,  15,  240, 0,   2,   9,   15,  245, 6,   0,   10,  14,  136, 97, 137, 23,  140, 23,  240, 0,   2,   5,
      13,  144, 65,  216, 16,  17,  216, 10,  11,  240, 3,   1,   16,  13, 240, 3,   2,   5,   13,  240, 0,   2,
      5,   13,  240, 0,   2,   5,   13,  240, 0,   2,   5,   13,  241, 0,  2,   5,   13,  244, 0,   2,   5,   13,
      240, 0,   2,   5,   13,  240, 0,   2,   5,   13,  240, 0,   2,   5,  13,  240, 0,   2,   5,   13,  240, 0,
      2,   5,   13,  240, 0,   2,   5,   13,  248, 248, 248, 240, 0,   2,  5,   13,  240, 0,   2,   5,   13,  240,
      0,   2,   5,   13,  240, 0,   2,   5,   13,  240, 0,   2,   5,   13, 240, 0,   2,   5,   13},
     {{0, 1},
      {2, 2},
      {6, 4},
      {34, 2},
      {52, 6},
      {56, 137},
      {68, 139},
      {70, 137},
      {86, 140},
      {118, 141},
      {120, 142},
      {122, 141},
      {124, 140},
      {158, kNoLine},
      {164, 140}},
     176},
    {13,
     {128, 0,  244, 6,  0,   18,  23,  144, 113, 148, 24, 243, 5,   3,  9,   6,  225, 17,  25, 136, 65, 243,
      3,   0,  9,   10, 217, 17,  25,  240, 5,   0,   5,  6,   240, 0,  3,   9,  6,   246, 8,  0,   8,  9,
      244, 70, 4,   0,  15,  25,  224, 12,  13,  243, 5,  2,   15,  15, 240, 0,  2,   9,   15, 244, 6,  0,
      10,  14, 136, 97, 140, 23,  144, 65,  216, 16,  17, 216, 10,  11, 240, 3,  1,   16,  13, 247, 3,  0,
      10,  17, 137, 23, 249, 242, 85,  4,   3,   9,   6,  247, 84,  4,  0,   10, 17,  141, 23, 250},
     {{0, 1},     {2, 4},     {24, 2},        {32, 4},   {38, 3},    {46, 4},       {50, 2},
      {54, 6},    {68, 137},  {78, 139},      {80, 137}, {90, 140},  {114, 141},    {116, 142},
      {118, 141}, {120, 140}, {140, kNoLine}, {144, 2},  {150, 140}, {178, kNoLine}},
     184},
};

int32_t lineAt(const Compiled &function, uint64_t offset) {
  return python::lineAt({function.table.data(), function.table.size(), 1}, function.minor, offset);
}

// The first words of _PyRuntime in Python 3.13, as far as the runtime reads them. The words of a struct begin with its
// size.
std::vector<uint64_t> described313() {
  std::vector<uint64_t> words(3 + 3 + 13 + 9 + 6 + 10);
  std::memcpy(words.data(), "xdebugpy", 8);
  words[1] = 0x030d0af0;
  uint64_t *thread = &words[3 + 3 + 13], *frame = thread + 9, *code = frame + 6;
  thread[4] = 72;
  frame[1] = 8;
  frame[2] = 0;
  frame[3] = 56;
  frame[5] = 70;
  code[1] = 112;
  code[3] = 128;
  code[4] = 136;
  code[5] = 68;
  code[9] = 200;
  return words;
}

PythonSymbols symbolsOf(const char *version, const std::vector<uint64_t> &runtime = {}) {
  return {1, 1, 1, 1, 1, reinterpret_cast<uint64_t>(runtime.data()), version};
}

uint32_t minorOf(const PythonSymbols &symbols) { return layoutOf(symbols).minor; }

} // namespace

TEST(PythonLines, AreThoseThatPythonNames) {
  for (const Compiled &function : kFunctions)
    for (size_t i = 0; i < function.lines.size(); ++i) {
      const uint64_t end = i + 1 < function.lines.size() ? function.lines[i + 1].begin : function.size;
      for (uint64_t offset = function.lines[i].begin; offset < end; offset += 2)
        EXPECT_EQ(lineAt(function, offset), function.lines[i].line) << "3." << function.minor << " at " << offset;
    }
}

TEST(PythonLines, OfADamagedTableEnd) {
  for (const Compiled &function : kFunctions)
    for (size_t bytes = 0; bytes < function.table.size(); ++bytes)
      for (const uint8_t byte : {0, 0x7f, 0x80, 0xf0, 0xff}) {
        const std::vector<uint8_t> table(bytes,
                                         byte); // its end is the end of the memory, so ASan finds a read behind it
        EXPECT_GE(python::lineAt({table.data(), table.size(), 1}, function.minor, 4000), kNoLine);
      }
}

// Each search compares the codes from its first slot to the next empty slot. So few searches may begin at one slot.
TEST(PythonCodes, OfOneAddressAreFoundInFewSteps) {
  constexpr uint32_t kCodes = 65'000;
  std::map<uint32_t, uint32_t> searches;
  for (uint64_t number = 1; number <= kCodes; ++number)
    ++searches[CodeTable::firstSlotOf({0x7f00'1234'5670, 0x7f00'4567'8910, 12, number << 7 | 1, 0})];
  for (const auto &[slot, count] : searches)
    EXPECT_LT(count, 20u) << slot;
}

namespace {

// A string object with 2, 8 or 16 lowest bits of its state, as the versions have them.
template <class Character>
std::vector<unsigned char> stringOf(const std::vector<Character> &characters, const Layout &layout, unsigned lowest,
                                    bool is_ascii, bool is_compact = true) {
  const uint64_t data = is_ascii ? layout.text_data : layout.wide_text_data, count = characters.size();
  std::vector<unsigned char> object(data + count * sizeof(Character));
  const uint32_t state = 1u | (sizeof(Character) | (is_compact ? 8u : 0) | (is_ascii ? 16u : 0)) << lowest;
  std::memcpy(object.data() + layout.text_length, &count, sizeof count);
  std::memcpy(object.data() + layout.text_state, &state, sizeof state);
  std::memcpy(object.data() + data, characters.data(), count * sizeof(Character));
  return object;
}

std::string textOf(const std::vector<unsigned char> &object, const Layout &layout, size_t room = 100) {
  std::vector<char> buffer(room); // ASan finds a write behind it
  return std::string(python::textOf(layout, reinterpret_cast<uint64_t>(object.data()), buffer));
}

} // namespace

TEST(PythonText, IsUtf8) {
  for (const char *version : {"3.9.18", "3.11.2", "3.12.1"})
    for (const unsigned lowest : {2u, 8u, 16u}) {
      const Layout layout = layoutOf(symbolsOf(version));
      EXPECT_EQ(textOf(stringOf<uint8_t>({'a', 0x7f}, layout, lowest, true), layout), "a\x7f");
      EXPECT_EQ(textOf(stringOf<uint8_t>({'g', 'r', 0xf6, 0xdf, 'e'}, layout, lowest, false), layout), "größe");
      EXPECT_EQ(textOf(stringOf<uint16_t>({0x5206, 0x914d, 'x', 0x7ff, 0x800}, layout, lowest, false), layout),
                "分配x\u07ff\u0800");
      EXPECT_EQ(textOf(stringOf<uint32_t>({0x1f525, 'x', 0x10ffff}, layout, lowest, false), layout), "🔥x\U0010ffff");
    }
}

TEST(PythonText, EndsAfterAWholeCharacter) {
  const Layout layout = layoutOf(symbolsOf("3.11.2"));
  const auto string = stringOf<uint32_t>({'a', 0x1f525, 'b'}, layout, 2, false);
  EXPECT_EQ(textOf(string, layout, 0), "");
  for (const size_t room : {1, 4})
    EXPECT_EQ(textOf(string, layout, room), "a");
  EXPECT_EQ(textOf(string, layout, 5), "a🔥");
  EXPECT_EQ(textOf(string, layout, 6), "a🔥b");
}

TEST(PythonText, KeepsBytesThatPythonCouldNotDecode) {
  const Layout layout = layoutOf(symbolsOf("3.12.1"));
  EXPECT_EQ(textOf(stringOf<uint16_t>({'a', 0xdcff, 0xdc80, 'b'}, layout, 2, false), layout), "a\xff\x80"
                                                                                              "b");
  EXPECT_EQ(textOf(stringOf<uint16_t>({0xd800, 0xdc00}, layout, 2, false), layout), "\ufffd\ufffd");
  EXPECT_EQ(textOf(stringOf<uint32_t>({0x110000}, layout, 2, false), layout), "\ufffd");
}

TEST(PythonText, IsEmptyIfItIsStoredInAnotherWay) {
  const Layout layout = layoutOf(symbolsOf("3.11.2"));
  EXPECT_EQ(textOf(stringOf<uint8_t>({'a'}, layout, 2, true, false), layout), "");
  EXPECT_EQ(python::textOf(layout, 0, {}), "");
}

TEST(PythonLayout, IsKnownForEachVersion) {
  for (const char *version : {"3.9.18 (main)", "3.10.13", "3.11.2", "3.12.1+"})
    EXPECT_NE(minorOf(symbolsOf(version)), 0u) << version;
  for (const char *version : {"2.7.18", "3.8.1", "3.", "", "four"})
    EXPECT_EQ(minorOf(symbolsOf(version)), 0u) << version;
}

TEST(PythonLayout, NeedsAllSymbols) {
  for (uint64_t PythonSymbols::*const missing : {&PythonSymbols::thread_state, &PythonSymbols::is_finalizing,
                                                 &PythonSymbols::evaluate, &PythonSymbols::code_type}) {
    PythonSymbols symbols = symbolsOf("3.11.2");
    symbols.*missing = 0;
    EXPECT_EQ(minorOf(symbols), 0u);
  }
}

TEST(PythonLayout, IsReadFromPythonItself) {
  std::vector<uint64_t> words = described313();
  const Layout layout = layoutOf(symbolsOf("3.13.0", words));
  EXPECT_EQ(layout.minor, 13u);
  EXPECT_EQ(layout.thread_frame, 72);
  EXPECT_EQ(layout.instruction, 56);
  EXPECT_EQ(layout.bytecode, 200);
  EXPECT_EQ(layout.type, 8);
  words[2] = 1; // the build without a global lock
  EXPECT_EQ(layoutOf(symbolsOf("3.13.0", words)).type, 24);
  EXPECT_EQ(layoutOf(symbolsOf("3.13.0", words)).text_data, 56);
  EXPECT_EQ(layoutOf(symbolsOf("3.13.0", words)).wide_text_data, 72);
  EXPECT_EQ(layoutOf(symbolsOf("3.13.0", words)).copies, 0);
}

// The first words of 3.14, which has more structs' words.
TEST(PythonLayout, HasCopiesOfTheBytecodeWithoutTheGlobalLock) {
  std::vector<uint64_t> words(3 + 3 + 16 + 9 + 8 + 11);
  std::memcpy(words.data(), "xdebugpy", 8);
  words[1] = 0x030e00f0;
  uint64_t *frame = &words[3 + 3 + 16 + 9], *code = frame + 8;
  frame[7] = 68;
  code[10] = 192;
  EXPECT_EQ(layoutOf(symbolsOf("3.14.0", words)).copies, 0);
  words[2] = 1;
  EXPECT_EQ(layoutOf(symbolsOf("3.14.0", words)).copies, 192);
  EXPECT_EQ(layoutOf(symbolsOf("3.14.0", words)).copy_number, 68);
  words[1] = 0x030f00f0; // 3.15 without the lock was never seen
  words.resize(words.size() + 8);
  EXPECT_EQ(minorOf(symbolsOf("3.15.0", words)), 0u);
}

TEST(PythonLayout, IsUnknownIfPythonDescribesItselfInAnotherWay) {
  EXPECT_EQ(minorOf(symbolsOf("3.14.0", described313())), 0u); // the words are of another version
  EXPECT_EQ(minorOf(symbolsOf("3.99.0", described313())), 0u);
  EXPECT_EQ(minorOf({1, 1, 1, 1, 1, 0, "3.13.0"}), 0u);
  for (const size_t word : {size_t{0}, size_t{3 + 3 + 13 + 4}, size_t{3 + 3 + 13 + 9 + 6 + 9}}) {
    std::vector<uint64_t> words = described313();
    words[word] = 0x5555'5555'5555;
    EXPECT_EQ(minorOf(symbolsOf("3.13.0", words)), 0u) << word;
  }
}

} // namespace msleaks::runtime::python
