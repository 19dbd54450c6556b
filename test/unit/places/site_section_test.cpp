#include "analysis/places/site_table.h"

#include "elf_fixture.h"
#include "table_bytes.h"

#include <random>

namespace msleaks::analysis {
namespace {

constexpr char kMain[] = "int main(void) { return 0; }\n";

class SiteSection : public test::ElfFixture {
protected:
  void SetUp() override {
    ElfFixture::SetUp();
    write("main.c", kMain);
    auto one = test::sampleTable(), two = test::sampleTable();
    two.source = "src/two.cpp";
    write("one.s", sectionText(one.build()));
    write("two.s", sectionText(two.build()));
    run("$CC -c one.s -o one.o && $CC -c two.s -o two.o && $CC -c main.c -o main.o");
  }

  void expectSites(const std::string &file, size_t tables) {
    const auto objects = readSiteSections(folder / file);
    ASSERT_TRUE(objects) << objects.error().message;
    ASSERT_EQ(objects->size(), 1u);
    ASSERT_EQ(objects->front().tables.size(), tables);
    for (const SiteTable &table : objects->front().tables)
      EXPECT_EQ(table.sites().size(), 3u);
  }

  void expectRefusal(const std::string &file, const std::string &part) {
    const auto objects = readSiteSections(folder / file);
    ASSERT_FALSE(objects);
    EXPECT_NE(objects.error().message.find(part), std::string::npos) << objects.error().message;
    EXPECT_EQ(objects.error().message.find('\n'), std::string::npos);
    EXPECT_EQ(objects.error().status, ExitStatus::BadInput);
  }
};

} // namespace

TEST_F(SiteSection, Object) { expectSites("one.o", 1); }

TEST_F(SiteSection, ExecutableWithSeveralUnits) {
  run("$CC main.o one.o two.o -o program");
  expectSites("program", 2);
}

TEST_F(SiteSection, StrippedExecutable) {
  run("$CC main.o one.o two.o -o program && $STRIP --strip-all program");
  expectSites("program", 2);
}

TEST_F(SiteSection, SharedLibrary) {
  run("$CC -shared one.o two.o -o libnet.so");
  expectSites("libnet.so", 2);
}

TEST_F(SiteSection, ArchiveNamesItsMembers) {
  run("ar rc libnet.a one.o main.o two.o");
  const auto objects = readSiteSections(folder / "libnet.a");
  ASSERT_TRUE(objects) << objects.error().message;
  ASSERT_EQ(objects->size(), 2u); // main.o has no section
  EXPECT_EQ((*objects)[0].member, "one.o");
  EXPECT_EQ((*objects)[1].member, "two.o");
  EXPECT_EQ((*objects)[1].tables[0].source(), "src/two.cpp");
}

TEST_F(SiteSection, NameOfAMemberStaysOnItsLine) {
  run("cp one.o \"$(printf 'one\\nx.o')\" && ar rc odd.a \"$(printf 'one\\nx.o')\"");
  const auto objects = readSiteSections(folder / "odd.a");
  ASSERT_TRUE(objects) << objects.error().message;
  EXPECT_EQ((*objects)[0].member, "one?x.o");
}

TEST_F(SiteSection, ThinArchiveIsRefusedWithAdvice) {
  run("ar rcT thin.a one.o");
  expectRefusal("thin.a", "thin archive");
}

TEST_F(SiteSection, ObjectWithoutSites) { expectRefusal("main.o", "has no sites"); }

TEST_F(SiteSection, FilesThatAreNoObjects) {
  write("empty", "");
  write("text.txt", "just some text, longer than a header");
  write("bitcode.bc", std::string("BC\xc0\xde rest of it"));
  std::filesystem::create_directory(folder / "dir");
  expectRefusal("empty", "is empty");
  expectRefusal("text.txt", "not an ELF file");
  expectRefusal("bitcode.bc", "bitcode");
  expectRefusal("dir", "is not a file");
  expectRefusal("missing", "No such file");
}

TEST_F(SiteSection, FifoDoesNotBlock) {
  run("mkfifo fifo");
  expectRefusal("fifo", "is not a file");
}

TEST_F(SiteSection, DebugFileWithoutContents) {
  run("$CC main.o one.o -o program && $OBJCOPY --only-keep-debug program program.debug");
  expectRefusal("program.debug", "stripped away");
}

TEST_F(SiteSection, DamagedTableIsNamed) {
  auto bytes = test::sampleTable().build();
  bytes[70] ^= std::byte{1};
  write("bad.s", sectionText(bytes));
  run("$CC -c bad.s -o bad.o && ar rc bad.a one.o bad.o");
  expectRefusal("bad.o", "checksum");
  expectRefusal("bad.a", "bad.a(bad.o)");
}

TEST_F(SiteSection, AnotherLayoutIsRefusedInOneLine) {
  auto bytes = test::sampleTable().build();
  bytes[3] = std::byte{'2'}; // changes the magic number "MSL1"
  write("newer.s", sectionText(bytes));
  run("$CC -c newer.s -o newer.o");
  expectRefusal("newer.o", "magic number");
}

// The reader must not crash if bytes are missing or changed. It may return a result or an error.
TEST_F(SiteSection, DamagedFilesDoNoHarm) {
  run("ar rc libnet.a one.o two.o");
  for (const char *name : {"one.o", "libnet.a"}) {
    const auto good = readBytes(folder / name);
    ASSERT_GT(good.size(), 500u);
    for (size_t size = 0; size < good.size(); size += 13) {
      writeBytes("cut", std::span(good).first(size));
      (void)readSiteSections(folder / "cut");
    }
    std::mt19937 random(7);
    for (int i = 0; i < 300; ++i) {
      auto bytes = good;
      for (int flips = 0; flips < 3; ++flips)
        bytes[random() % bytes.size()] = static_cast<std::byte>(random());
      writeBytes("flipped", bytes);
      (void)readSiteSections(folder / "flipped");
    }
  }
}

} // namespace msleaks::analysis
