// Tests that a file of memray becomes a run of msleaks. test/e2e/import reads files that memray has written.
#include "import_fixture.h"

#include "analysis/importers/python_lines.h"

using namespace std::string_literals;

namespace msleaks::analysis {
namespace {

// Writes the records of a file, as memray's streaming writer does.
class MemrayBuilder {
public:
  explicit MemrayBuilder(int32_t version = 13, bool is_aggregated = false) {
    bytes_ = std::string("memray\0", 7);
    fixed(version, 4);
    fixed(0x030b02f0, 4);
    bytes_ += '\0'; // no native calls
    bytes_ += static_cast<char>(is_aggregated);
    fixed(0, 8);
    fixed(0, 8);
    fixed(5, 8); // starts 5 ms after 1970
    fixed(9, 8);
    text("python train.py");
    fixed(4711, 4);
    fixed(77, 8); // the main thread
    fixed(1, 8);  // has one frame of memray
    bytes_ += "\x01\0\0"s;
    if (version >= 13)
      for (const char *path : {"/usr/lib/python3.11", "/site", "", "/path", ""})
        text(path);
  }
  void thread(uint64_t tid) {
    bytes_ += '\x0c';
    fixed(tid, 8);
  }
  // The lines: two words on the first line, and two on the next one.
  void code(uint64_t number, const std::string &function, const std::string &file) {
    bytes_ += '\x0e';
    varint(number);
    text(function);
    text(file);
    signedVarint(10 - last_line_);
    last_line_ = 10;
    const std::string table = "\xd1\x01\x01\xd9\x02\x03"s;
    varint(table.size());
    bytes_ += table;
  }
  void push(uint64_t code, int64_t instruction) {
    bytes_ += '\x41';
    varint(code);
    signedVarint(instruction);
  }
  void pop() { bytes_ += '\x10'; }
  void malloc(uint64_t address, uint64_t size) {
    bytes_ += '\xfe'; // a new address, and malloc
    pointer(address);
    varint(size);
  }
  void free(uint64_t address) {
    bytes_ += '\xfd';
    pointer(address);
  }
  void freeRecent(unsigned place) { bytes_ += static_cast<char>(0x80 | place << 3 | 5); }
  void other(uint8_t allocator, uint64_t address, uint64_t size) {
    bytes_ += '\xf8';
    pointer(address);
    bytes_ += static_cast<char>(allocator);
    varint(size);
  }
  void memory(uint64_t ms) {
    bytes_ += '\x02';
    varint(1);
    varint(ms);
  }
  std::string finish() const { return bytes_ + "\x01\0\0\0"s; }
  std::string cut() const { return bytes_; }

private:
  void fixed(uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i)
      bytes_ += static_cast<char>(value >> (8 * i));
  }
  void text(const std::string &text) { bytes_ += text + '\0'; }
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  void signedVarint(int64_t value) { varint(static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63)); }
  void pointer(uint64_t address) {
    signedVarint(static_cast<int64_t>(address / 8) - static_cast<int64_t>(last_pointer_));
    last_pointer_ = address / 8;
  }

  std::string bytes_;
  int64_t last_line_ = 0;
  uint64_t last_pointer_ = 0;
};

MemrayBuilder usualFile(int32_t version = 13) {
  MemrayBuilder file(version);
  file.thread(77);
  file.code(1, "<module>", "/home/u/train.py");
  file.code(2, "make\n\xff", "/home/u/net.py");
  file.push(9, 0); // memray's own
  file.push(1, 0);
  file.push(2, 4); // the third word
  file.malloc(0x1000, 500);
  file.malloc(0x2000, 70);
  file.freeRecent(1);
  file.free(0x9000); // older than the recording
  file.thread(78);
  file.memory(20);
  file.malloc(0x9000, 33);
  file.thread(77);
  file.pop();
  file.other(14, 0x10000, 8192); // mmap
  file.other(15, 0x11000, 4096); // munmap of its second half
  return file;
}

class MemrayImport : public ImportTest {};

} // namespace

TEST_F(MemrayImport, ReadsBlocksPathsAndTimes) {
  for (const int32_t version : {12, 13}) {
    const Report report = reportOfFile(usualFile(version).finish());
    EXPECT_EQ(report.peak.bytes, 8192u + 70 + 33);
    EXPECT_EQ(report.leaks.sum.bytes, 4096u + 70 + 33);
    EXPECT_EQ(report.command, std::vector<std::string>{"python train.py"});
    EXPECT_EQ(report.source, fmt::format("memray {}", version));
    EXPECT_EQ(report.duration_ns / 1'000'000, 20u);
    const LeakLine *made = nullptr;
    for (const LeakLine &line : report.leaks.by_site)
      made = line.bytes == 70 ? &line : made;
    ASSERT_NE(made, nullptr);
    EXPECT_EQ(made->site.file, "/home/u/net.py");
    EXPECT_EQ(made->site.line, 11u);
    ASSERT_EQ(made->paths.size(), 1u);
    ASSERT_EQ(made->paths[0].calls.size(), 2u) << "memray's own frame is left out";
    EXPECT_EQ(made->paths[0].calls[1]->line, 10u);
  }
}

TEST_F(MemrayImport, PymallocIsAPool) {
  MemrayBuilder file;
  file.thread(78);
  file.malloc(0x1000, 500);
  file.other(2, 0x1000, 100); // takes a part of the block
  EXPECT_EQ(reportOfFile(file.finish()).peak.bytes, 500u);
}

TEST_F(MemrayImport, ACutFileIsThePartBefore) {
  const Report report = reportOfFile(usualFile().cut() + std::string(50, '\0'));
  EXPECT_TRUE(hasNote(report, "was cut"));
  EXPECT_EQ(report.leaks.sum.bytes, 0u) << "the end is not known";
  cutAndChange(usualFile().finish(), 3);
}

TEST_F(MemrayImport, OtherFilesAreRefused) {
  const auto refusalOf = [&](const std::string &content) {
    const auto report = importedReport(fileOf(content, "foreign"));
    return report ? std::string() : report.error().message;
  };
  EXPECT_NE(refusalOf(MemrayBuilder(11).finish()).find("version 11"), std::string::npos);
  EXPECT_NE(refusalOf(MemrayBuilder(13, true).finish()).find("--aggregate"), std::string::npos);
  EXPECT_NE(refusalOf(MemrayBuilder().finish()).find("nothing that msleaks can use"), std::string::npos);
  EXPECT_NE(refusalOf(MemrayBuilder().cut() + '\x03').find("unknown kind 3"), std::string::npos);
}

// Each table has ranges of words or bytes, and their lines.
TEST(PythonLines, OfEachVersion) {
  const std::string since_311 = "\xd1\x01\x01\xd9\x02\x03\xf9\xe9\x04\xf2\x03\x02\x01\x05"s;
  EXPECT_EQ(lineOfInstruction(0x030b0000, since_311, 0, 10), 10u);
  EXPECT_EQ(lineOfInstruction(0x030b0000, since_311, 4, 10), 11u);
  EXPECT_EQ(lineOfInstruction(0x030b0000, since_311, 8, 10), std::nullopt) << "it has no line";
  EXPECT_EQ(lineOfInstruction(0x030b0000, since_311, 12, 10), 13u);
  EXPECT_EQ(lineOfInstruction(0x030b0000, since_311, 100, 10), std::nullopt);
  EXPECT_EQ(lineOfInstruction(0x030b0000, "\xd1", 0, 10), std::nullopt);
  const std::string of_310 = "\x04\x00\x04\x02\x02\x80\x02\xff"s;
  EXPECT_EQ(lineOfInstruction(0x030a0000, of_310, 1, 10), 10u);
  EXPECT_EQ(lineOfInstruction(0x030a0000, of_310, 2, 10), 12u);
  EXPECT_EQ(lineOfInstruction(0x030a0000, of_310, 4, 10), std::nullopt);
  EXPECT_EQ(lineOfInstruction(0x030a0000, of_310, 5, 10), 11u);
  const std::string before_310 = "\x04\x02\x06\xff"s;
  EXPECT_EQ(lineOfInstruction(0x03090000, before_310, 3, 10), 10u);
  EXPECT_EQ(lineOfInstruction(0x03090000, before_310, 4, 10), 12u);
  EXPECT_EQ(lineOfInstruction(0x03090000, before_310, 20, 10), 11u);
}

} // namespace msleaks::analysis
