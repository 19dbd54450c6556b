#include "analysis/second_run/library_file.h"
#include "elf_fixture.h"

#include <algorithm>
#include <gmock/gmock.h>

namespace msleaks::analysis {
namespace {

using testing::ElementsAre;
using Visibility = LibraryFile::Visibility;

constexpr char kSource[] = R"(
#define VISIBLE(text) __attribute__((noinline, visibility(text)))
extern void *outside(unsigned long);
VISIBLE("default") void exported(void) { __asm__ volatile(""); }
VISIBLE("protected") void guarded(void) { __asm__ volatile(""); }
VISIBLE("hidden") void hidden(void) { __asm__ volatile(""); }
void *work(void) { hidden(); exported(); return outside(1); }
)";

bool isWanted(const std::string &symbol) { return symbol != "work" && !symbol.starts_with("_"); }

class LibraryFileTest : public test::ElfFixture {
protected:
  LibraryFile build(const std::string &options) {
    write("a.c", kSource);
    run("$CC -O1 -fno-lto a.c -o a.so " + options);
    auto file = readLibraryFile(folder / "a.so", isWanted);
    EXPECT_TRUE(file) << file.error().message;
    return file ? std::move(*file) : LibraryFile{};
  }
};

std::vector<std::string> slotsOf(const LibraryFile &file) {
  std::vector<std::string> names;
  for (const LibraryFile::Slot &slot : file.slots)
    names.push_back(slot.symbol);
  std::ranges::sort(names);
  return names;
}

TEST_F(LibraryFileTest, WhomItAsksAndWhatItBrings) {
  const LibraryFile file = build("-shared -fPIC");
  EXPECT_THAT(file.imports, ElementsAre("outside"));
  EXPECT_THAT(slotsOf(file), ElementsAre("exported", "outside"));
  EXPECT_EQ(file.definitions.at("exported").visibility, Visibility::Exported);
  EXPECT_EQ(file.definitions.at("guarded").visibility, Visibility::Protected);
  EXPECT_EQ(file.definitions.at("hidden").visibility, Visibility::Local);
  EXPECT_TRUE(file.definitions.at("hidden").is_called);
  EXPECT_FALSE(file.definitions.at("guarded").is_called);
  EXPECT_FALSE(file.is_symbolic || file.is_program || file.has_loader || file.is_32bit || file.is_instrumented);
}

TEST_F(LibraryFileTest, AWeakFunctionInATableAsksNobody) {
  write("weak.c", "extern __attribute__((weak)) void perhaps(void); void (*table[])(void) = {perhaps};");
  EXPECT_THAT(build("-shared -fPIC weak.c").imports, ElementsAre("outside"));
}

TEST_F(LibraryFileTest, StrippedItStillSaysWhatIsExported) {
  const LibraryFile file = build("-shared -fPIC -s");
  EXPECT_THAT(slotsOf(file), ElementsAre("exported", "outside"));
  EXPECT_FALSE(file.definitions.contains("hidden"));
}

TEST_F(LibraryFileTest, Symbolic) {
  const LibraryFile file = build("-shared -fPIC -Wl,-Bsymbolic");
  EXPECT_TRUE(file.is_symbolic);
  EXPECT_THAT(slotsOf(file), ElementsAre("outside"));
  EXPECT_TRUE(file.definitions.at("exported").is_called);
}

TEST_F(LibraryFileTest, Programs) {
  write("main.c", "void *outside(unsigned long n) { return (void *)n; } int main(void) { return 0; }");
  EXPECT_TRUE(build("-pie -fPIE main.c").is_program);
  const LibraryFile file = build("-static main.c");
  EXPECT_TRUE(file.is_program);
  EXPECT_FALSE(file.has_loader);
}

TEST_F(LibraryFileTest, WhatIsNoLibraryIsRefusedInOneLine) {
  for (const auto &[name, text] :
       {std::pair("text", "hello"), std::pair("empty", ""), std::pair("archive.a", "!<arch>\n")}) {
    const auto file = readLibraryFile(write(name, text), isWanted);
    ASSERT_FALSE(file) << name;
    EXPECT_EQ(file.error().message.find('\n'), std::string::npos);
    EXPECT_EQ(file.error().status, ExitStatus::BadInput);
  }
  EXPECT_FALSE(readLibraryFile(folder / "missing", isWanted));
  EXPECT_FALSE(readLibraryFile(folder, isWanted));
}

// The reader must not read outside the file, whatever the headers contain. A build with a sanitizer checks this.
TEST_F(LibraryFileTest, DamagedFilesAreReadAsFarAsTheyGo) {
  build("-shared -fPIC -s");
  const std::vector<std::byte> whole = readBytes(folder / "a.so");
  for (size_t size = 0; size < whole.size(); size += 509)
    (void)readLibraryFile(writeBytes("cut", std::span(whole).first(size)), isWanted);
  for (size_t at = 0; at < whole.size(); at += at < 256 ? 1 : 211) {
    std::vector<std::byte> flipped = whole;
    flipped[at] ^= std::byte{0xff};
    (void)readLibraryFile(writeBytes("flipped", flipped), isWanted);
  }
}

TEST(Producer, PassAndLlvm) {
  const Producer producer = parseProducer("MemPass 0.1.0 LLVM 22.1.8");
  EXPECT_EQ(producer.pass, "0.1.0");
  EXPECT_EQ(producer.llvm, "22.1.8");
  for (const char *text : {"", "MemPass", "MemPass 0.1", "gcc 12", " LLVM 3"})
    EXPECT_EQ(parseProducer(text).llvm, "") << text;
}

} // namespace
} // namespace msleaks::analysis
