#include "msleaks/analysis/symbolizer.h"

#include "elf_fixture.h"

#include <cstdint>

namespace msleaks::analysis {
namespace {

// Functions at known places: "alias" and "first" share one, "hidden" is local, "plain" states no size.
constexpr char kCode[] = R"(
.text
.globl first, _ZN3net4growEm, plain
.type first, @function
.type alias_of_first, @function
.type hidden, @function
.type _ZN3net4growEm, @function
.type plain, @function
alias_of_first:
first: .skip 16, 0x90
.size first, 16
.size alias_of_first, 16
.skip 16, 0x90
_ZN3net4growEm: .skip 16, 0x90
.size _ZN3net4growEm, 16
hidden: .skip 8, 0x90
.size hidden, 8
plain: .skip 8, 0x90
.section .note.GNU-stack,"",@progbits
)";

class SymbolizerTest : public test::ElfFixture {
protected:
  void SetUp() override {
    ElfFixture::SetUp();
    write("code.s", kCode);
    run("$CC -shared -nostdlib code.s -Wl,--build-id=0x11223344 -Wl,-Ttext=0x10000 -o libcode.so");
  }
  ImageFile image(const std::string &name, std::vector<std::byte> id = {}) {
    return {(folder / name).string(), std::move(id)};
  }
  static std::vector<std::byte> id(uint8_t last) {
    return {std::byte{0x11}, std::byte{0x22}, std::byte{0x33}, std::byte{last}};
  }
};

} // namespace

TEST_F(SymbolizerTest, NamesTheFunctionThatHoldsAnAddress) {
  Symbolizer symbolizer;
  const ImageFile code = image("libcode.so", id(0x44));
  EXPECT_EQ(symbolizer.functionAt(code, 0x10000), "first"); // the exported of two names
  EXPECT_EQ(symbolizer.functionAt(code, 0x1000f), "first");
  EXPECT_EQ(symbolizer.functionAt(code, 0x10010), ""); // between two functions
  EXPECT_EQ(symbolizer.functionAt(code, 0x10020), "_ZN3net4growEm");
  EXPECT_EQ(symbolizer.functionAt(code, 0x10030), "hidden");
  EXPECT_EQ(symbolizer.functionAt(code, 0x10038), "plain");
  EXPECT_EQ(symbolizer.functionAt(code, 0x10039), "");
  EXPECT_EQ(symbolizer.functionAt(code, 0), "");
  EXPECT_EQ(symbolizer.functionAt(code, UINT64_MAX), "");
  EXPECT_TRUE(symbolizer.notes().empty());
}

TEST_F(SymbolizerTest, StrippedImageHasItsExportedNames) {
  run("$STRIP --strip-all libcode.so");
  Symbolizer symbolizer;
  EXPECT_EQ(symbolizer.functionAt(image("libcode.so"), 0x10004), "first");
  EXPECT_EQ(symbolizer.functionAt(image("libcode.so"), 0x10030), "");
}

TEST_F(SymbolizerTest, SeparateDebugFileNamesTheRest) {
  run("mkdir -p debug/11 && $OBJCOPY --only-keep-debug libcode.so debug/11/223344.debug && $STRIP --strip-all "
      "libcode.so");
  Symbolizer symbolizer(folder / "debug");
  EXPECT_EQ(symbolizer.functionAt(image("libcode.so", id(0x44)), 0x10030), "hidden");
  EXPECT_EQ(symbolizer.functionAt(image("libcode.so", id(0x44)), 0x10000), "first");
}

TEST_F(SymbolizerTest, ChangedImageIsNotAsked) {
  Symbolizer symbolizer;
  EXPECT_EQ(symbolizer.functionAt(image("libcode.so", id(0x45)), 0x10000), "");
  EXPECT_EQ(symbolizer.functionAt(image("libcode.so", id(0x45)), 0x10004), "");
  ASSERT_EQ(symbolizer.notes().size(), 1u); // once an image, not once a name
  EXPECT_NE(symbolizer.notes()[0].find("changed since the run"), std::string::npos);
}

TEST_F(SymbolizerTest, MissingOrBrokenImagesAreNoted) {
  write("text", "not an ELF file at all");
  Symbolizer symbolizer;
  EXPECT_EQ(symbolizer.functionAt(image("gone.so"), 1), "");
  EXPECT_EQ(symbolizer.functionAt(image("text"), 1), "");
  EXPECT_EQ(symbolizer.notes().size(), 2u);
  EXPECT_EQ(symbolizer.functionAt({"linux-vdso.so.1", {}}, 1), ""); // no file: nothing to note
  EXPECT_EQ(symbolizer.functionAt({"", {}}, 1), "");
  EXPECT_EQ(symbolizer.notes().size(), 2u);
}

TEST(Demangle, LeavesOtherNamesAlone) {
  EXPECT_EQ(demangle("_ZN3net4growEm"), "net::grow(unsigned long)");
  EXPECT_EQ(demangle("malloc"), "malloc");
  EXPECT_EQ(demangle("_Z"), "_Z");
  EXPECT_EQ(demangle("_Znonsense~"), "_Znonsense~");
  EXPECT_EQ(demangle(""), "");
}

} // namespace msleaks::analysis
