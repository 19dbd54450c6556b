#include "analysis/places/symbolizer.h"

#include "elf_fixture.h"

#include <cstdint>
#include <fmt/format.h>

namespace msleaks::analysis {
namespace {

// Defines functions at known addresses. "alias_of_first" and "first" share one address, "hidden" is local, and "plain"
// has no size.
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
  EXPECT_EQ(symbolizer.functionAt(code, 0x10000), "first"); // the exported name, not the local one
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

TEST_F(SymbolizerTest, SaysHowFarAFunctionReaches) {
  Symbolizer symbolizer;
  const ImageFile code = image("libcode.so", id(0x44));
  const FunctionExtent grow = symbolizer.extentAt(code, 0x10025);
  EXPECT_EQ(grow.name, "_ZN3net4growEm");
  EXPECT_EQ(grow.begin, 0x10020u);
  EXPECT_EQ(grow.end, 0x10030u);
  const FunctionExtent plain = symbolizer.extentAt(code, 0x10038); // its symbol has no size
  EXPECT_EQ(plain.name, "plain");
  EXPECT_EQ(plain.begin, plain.end);
  EXPECT_EQ(symbolizer.extentAt(code, 0x10010).name, "");
}

// The names of a large table stay in the file. A name may be longer than the part that is read at once.
TEST_F(SymbolizerTest, NamesAreReadFromALargeTable) {
  const auto nameOf = [](int number) { return fmt::format("f{}_{}", number, std::string(700, 'x')); };
  constexpr int kCount = 2000;
  std::string code = ".text\n";
  for (int i = 0; i < kCount; ++i)
    code += fmt::format(".globl {0}\n.type {0}, @function\n{0}: .skip 16, 0x90\n.size {0}, 16\n", nameOf(i));
  code += fmt::format(".globl short\n.type short, @function\n.set short, {}\n.size short, 16\n", nameOf(1));
  write("large.s", code + ".section .note.GNU-stack,\"\",@progbits\n");
  run("$CC -shared -nostdlib large.s -Wl,-Ttext=0x1000000 -o liblarge.so");
  Symbolizer symbolizer;
  const ImageFile large = image("liblarge.so");
  EXPECT_EQ(symbolizer.functionAt(large, 0x1000000), nameOf(0));
  EXPECT_EQ(symbolizer.functionAt(large, 0x1000010), "short"); // the shorter of two names
  EXPECT_EQ(symbolizer.functionAt(large, 0x1000000 + 16 * (kCount - 1)), nameOf(kCount - 1));
  std::filesystem::resize_file(folder / "liblarge.so", 0x1000);
  EXPECT_EQ(symbolizer.functionAt(large, 0x1000020), ""); // the file was cut after its symbols were read
  EXPECT_EQ(symbolizer.functionAt(large, 0x1000000), nameOf(0));
}

// If the names of a symbol table are outside the file, the symbolizer ignores the table.
TEST_F(SymbolizerTest, NamesOutsideOfTheFileAreNone) {
  std::filesystem::resize_file(folder / "libcode.so", std::filesystem::file_size(folder / "libcode.so") - 1);
  Symbolizer symbolizer;
  EXPECT_EQ(symbolizer.functionAt(image("libcode.so", id(0x44)), 0), "");
  std::filesystem::resize_file(folder / "libcode.so", 0x800);
  Symbolizer other;
  EXPECT_EQ(other.functionAt(image("libcode.so"), 0x10000), "");
}

TEST_F(SymbolizerTest, StrippedImageHasItsExportedNames) {
  run("$STRIP --strip-all libcode.so");
  Symbolizer symbolizer;
  EXPECT_EQ(symbolizer.functionAt(image("libcode.so"), 0x10004), "first");
  EXPECT_EQ(symbolizer.functionAt(image("libcode.so"), 0x10030), "");
}

TEST_F(SymbolizerTest, SeparateDebugFileNamesTheRest) {
  run("mkdir -p debug/.build-id/11 && $OBJCOPY --only-keep-debug libcode.so debug/.build-id/11/223344.debug && $STRIP "
      "--strip-all "
      "libcode.so");
  Symbolizer symbolizer(folder / "debug");
  EXPECT_EQ(symbolizer.functionAt(image("libcode.so", id(0x44)), 0x10030), "hidden");
  EXPECT_EQ(symbolizer.functionAt(image("libcode.so", id(0x44)), 0x10000), "first");
}

namespace {
constexpr char kInlined[] = "volatile int v;\n"
                            "inline __attribute__((always_inline)) void inner() {\n"
                            "  v = 1;\n"
                            "}\n"
                            "inline __attribute__((always_inline)) void middle() {\n"
                            "  inner();\n"
                            "}\n"
                            "extern \"C\" __attribute__((section(\".text.outer\"))) void outer() {\n"
                            "  middle();\n"
                            "}\n";

class InlinedTest : public SymbolizerTest {
protected:
  void compile(const std::string &source) {
    write("inlined.cpp", source);
    run("$CC -x c++ -g -O2 -shared -fPIC -nostdlib inlined.cpp -Wl,--build-id=0x11223344 -o libinlined.so");
  }
  // Finds the address in outer() with the most inlined calls, and returns the places of this address.
  std::vector<CodePlace> deepestPlaces() {
    Symbolizer symbolizer(folder / "debug");
    const ImageFile file = image("libinlined.so", id(0x44));
    uint64_t at = 0;
    while (at < 0x10000 && symbolizer.functionAt(file, at) != "outer")
      ++at;
    std::vector<CodePlace> deepest;
    for (; symbolizer.functionAt(file, at) == "outer"; ++at)
      if (const auto &places = symbolizer.placesAt(file, at); places.size() > deepest.size())
        deepest = places;
    return deepest;
  }
};
} // namespace

// If the compiler is clang, the debug information has no table from addresses to compilation units. The symbolizer must
// find lines and inlined functions with and without this table.
TEST_F(InlinedTest, DebugInformationTellsLinesAndInlinedFunctions) {
  compile(kInlined);
  for (const char *kind : {"whole", "separate"}) {
    const std::vector<CodePlace> deepest = deepestPlaces();
    ASSERT_EQ(deepest.size(), 3u) << kind;
    EXPECT_EQ(deepest[0].function, "_Z5innerv");
    EXPECT_EQ(deepest[0].line, 3u);
    EXPECT_EQ(deepest[1].function, "_Z6middlev");
    EXPECT_EQ(deepest[1].line, 6u);
    EXPECT_EQ(deepest[2].function, "outer");
    EXPECT_EQ(deepest[2].line, 9u);
    EXPECT_EQ(deepest[2].file, (folder / "inlined.cpp").string());
    run("mkdir -p debug/.build-id/11 && $OBJCOPY --only-keep-debug libinlined.so debug/.build-id/11/223344.debug && "
        "$STRIP --strip-debug libinlined.so");
  }
}

#if defined(__x86_64__) || defined(__aarch64__)
TEST_F(SymbolizerTest, SaysWhatACallCalls) {
#ifdef __x86_64__
  write("calls.s", ".text\n.type own, @function\nown: ret\n.size own, 1\n.globl calls\ncalls:\n"
                   "call fopen@PLT\nthrough_plt:\ncall *opendir@GOTPCREL(%rip)\nwithout_plt:\n"
                   "call own\nto_own:\ncall *%rax\nby_pointer:\nret\n"
                   ".globl through_plt, without_plt, to_own, by_pointer\n.section .note.GNU-stack,\"\",@progbits\n");
#else
  write("calls.s", ".text\n.type own, @function\nown: ret\n.size own, 4\n.globl calls\ncalls:\n"
                   "bl fopen\nthrough_plt:\nbl opendir\nwithout_plt:\n"
                   "bl own\nto_own:\nblr x0\nby_pointer:\nret\n"
                   ".globl through_plt, without_plt, to_own, by_pointer\n.section .note.GNU-stack,\"\",@progbits\n");
#endif
#ifdef __x86_64__
  const std::vector<std::string> linkage_tables = {"-z,lazy", "-z,now", "-z,ibtplt"};
#else
  const std::vector<std::string> linkage_tables = {"-z,lazy", "-z,now", "-z,force-bti"};
#endif
  for (const std::string &flags : linkage_tables) {
    run("$CC -shared -nostdlib calls.s -Wl," + flags + " -o libcalls.so && nm --defined-only libcalls.so > symbols");
    const auto address = [&](const std::string &label) {
      std::ifstream symbols(folder / "symbols");
      for (std::string at, kind, name; symbols >> at >> kind >> name;)
        if (name == label)
          return std::stoull(at, nullptr, 16);
      return 0ull;
    };
    Symbolizer symbolizer(folder / "debug");
    const ImageFile file = image("libcalls.so");
    EXPECT_EQ(symbolizer.calleeAt(file, address("through_plt") - 1), "fopen") << flags;
    EXPECT_EQ(symbolizer.calleeAt(file, address("without_plt") - 1), "opendir") << flags;
    EXPECT_EQ(symbolizer.calleeAt(file, address("to_own") - 1), "own") << flags;
    EXPECT_EQ(symbolizer.calleeAt(file, address("by_pointer") - 1), "") << flags;
    EXPECT_EQ(symbolizer.calleeAt(file, 0), "");
    EXPECT_EQ(symbolizer.calleeAt(file, UINT64_MAX), "");
  }
}
#endif

// The symbolizer looks for a debug file by build id and by name. Here both paths lead to the debug file of another
// build, which the symbolizer must not use.
TEST_F(SymbolizerTest, DebugFileOfAnotherBuildIsNotUsed) {
  write("inlined.cpp", kInlined);
  const std::string compile = "$CC -x c++ -g -O2 -shared -fPIC -nostdlib inlined.cpp -Wl,--build-id=0x";
  run(compile + "11223344 -o libinlined.so && " + compile + "11223355 -Dmiddle=other -Douter=another -o other.so");
  run("mkdir -p debug/.build-id/11 && $OBJCOPY --only-keep-debug other.so debug/.build-id/11/223344.debug && cp "
      "debug/.build-id/11/223344.debug libinlined.so.debug && $STRIP --strip-debug libinlined.so && $OBJCOPY "
      "--add-gnu-debuglink=libinlined.so.debug libinlined.so");
  Symbolizer symbolizer(folder / "debug");
  const ImageFile file = image("libinlined.so", id(0x44));
  unsigned named = 0;
  for (uint64_t at = 0; at < 0x3000; ++at)
    for (const CodePlace &place : symbolizer.placesAt(file, at)) {
      ++named;
      EXPECT_EQ(place.function, "outer");
      EXPECT_EQ(place.line, 0u);
    }
  EXPECT_GT(named, 0u);
}

// In debug information, clang describes a function inside its namespace, and g++ after the namespace. The symbolizer
// must find the inlined functions in both cases.
TEST_F(InlinedTest, FunctionsOfNamespacesHaveTheirInlinedOnes) {
  compile("namespace net { namespace tcp {\n" + std::string(kInlined) + "}}\n");
  const std::vector<CodePlace> deepest = deepestPlaces();
  ASSERT_EQ(deepest.size(), 3u);
  EXPECT_EQ(deepest[0].function, "_ZN3net3tcp5innerEv");
  EXPECT_EQ(deepest[0].line, 4u);
  EXPECT_EQ(deepest[1].function, "_ZN3net3tcp6middleEv");
  EXPECT_EQ(deepest[2].function, "outer");
  EXPECT_EQ(deepest[2].line, 10u);
}

TEST_F(SymbolizerTest, WhatATraceSaysNeedsNoFile) {
  Symbolizer here(folder / "debug");
  ASSERT_EQ(here.placesAt(image("libcode.so", id(0x44)), 0x10004).size(), 1u);
  EXPECT_TRUE(here.placesAt(image("libcode.so", id(0x44)), 0x10018).empty());
  EXPECT_TRUE(here.placesAt(image("gone.so", id(0x44)), 0x10004).empty());
  ASSERT_EQ(here.found().size(), 1u);
  EXPECT_EQ(here.found()[0].addresses.size(), 2u) << "that one has no name is worth knowing, too";
  Symbolizer elsewhere(folder / "debug");
  elsewhere.add(here.found()[0]);
  run("rm libcode.so");
  ASSERT_EQ(elsewhere.placesAt(image("libcode.so", id(0x44)), 0x10004).size(), 1u);
  EXPECT_EQ(elsewhere.placesAt(image("libcode.so", id(0x44)), 0x10004)[0].function, "first");
  EXPECT_TRUE(elsewhere.placesAt(image("libcode.so", id(0x44)), 0x10018).empty());
  EXPECT_TRUE(elsewhere.notes().empty());
  EXPECT_TRUE(elsewhere.found().empty());
  EXPECT_TRUE(elsewhere.placesAt(image("libcode.so", id(0x45)), 0x10004).empty()) << "another build";
}

TEST_F(SymbolizerTest, WithoutDebugInformationASymbolIsAllThereIs) {
  Symbolizer symbolizer(folder / "debug");
  const auto &places = symbolizer.placesAt(image("libcode.so"), 0x10004);
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(places[0].function, "first");
  EXPECT_EQ(places[0].file, "");
  EXPECT_TRUE(symbolizer.placesAt(image("libcode.so"), 0x10018).empty());
  EXPECT_TRUE(symbolizer.placesAt(image("none.so"), 0x10000).empty());
}

TEST_F(SymbolizerTest, SaysHowFarItIs) {
  Symbolizer symbolizer;
  std::vector<uint64_t> told;
  symbolizer.onLookUp([&](uint64_t so_far) { told.push_back(so_far); });
  for (int twice = 0; twice < 2; ++twice) // known names are not looked up again
    for (uint64_t i = 0; i < 250; ++i)
      symbolizer.placesAt(image("libcode.so"), 0x10000 + i);
  EXPECT_EQ(told, (std::vector<uint64_t>{100, 200}));
}

TEST_F(SymbolizerTest, ChangedImageIsNotAsked) {
  Symbolizer symbolizer;
  EXPECT_EQ(symbolizer.functionAt(image("libcode.so", id(0x45)), 0x10000), "");
  EXPECT_EQ(symbolizer.functionAt(image("libcode.so", id(0x45)), 0x10004), "");
  ASSERT_EQ(symbolizer.notes().size(), 1u); // one note for each image, although several names were looked up
  EXPECT_NE(symbolizer.notes()[0].find("changed since the run"), std::string::npos);
}

TEST_F(SymbolizerTest, MissingOrBrokenImagesAreNoted) {
  write("text", "not an ELF file at all");
  Symbolizer symbolizer;
  EXPECT_EQ(symbolizer.functionAt(image("gone.so"), 1), "");
  EXPECT_EQ(symbolizer.functionAt(image("text"), 1), "");
  EXPECT_EQ(symbolizer.notes().size(), 2u);
  EXPECT_EQ(symbolizer.functionAt({"linux-vdso.so.1", {}}, 1), ""); // there is no file, so there is no note
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
