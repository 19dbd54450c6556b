// Tests that a dump of msMemScope becomes a run of msleaks.
#include "import_fixture.h"

#include "analysis/importers/foreign_rows.h"

namespace msleaks::analysis {
namespace {

namespace fs = std::filesystem;

const std::string kNewHeader = "ID,Event,Event Type,Name,Timestamp(ns),Process Id,Thread Id,Device Id,Ptr,Attr,"
                               "Call Stack(Python),Call Stack(C)\n";

class Dumps : public ImportTest {
protected:
  // Blocks of two sites leak, blocks of a third are freed, and each step keeps a block of a device.
  void recordLeaks() {
    start(1, 4711);
    std::vector<StreamEvent> list;
    const Where device{.heap = abi::Heap::Device, .site = 2};
    for (uint64_t i = 0; i < 6; ++i) {
      const uint64_t time_ns = kStart + 1000 * (i + 1);
      list.push_back(test::make<abi::StepEvent>(time_ns, {}, i + 1, 0));
      list.push_back(test::alloc(time_ns + 10, 0x1000 + i * 0x100, 100 + i, kOne));
      list.push_back(test::alloc(time_ns + 20, 0x9000, 5000, kTwo));
      list.push_back(test::alloc(time_ns + 30, 0x100000 + i * 0x10000, 4096, device));
      list.push_back(test::free(time_ns + 40, 0x9000, kTwo));
    }
    events(list);
    end(1, 0, kStart + 1'000'000);
    manifest();
    close();
  }
};

fs::path theFileIn(const fs::path &folder, const std::string &extension) {
  for (const auto &entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == extension)
      return entry.path();
  return {};
}

} // namespace

TEST_F(Dumps, HaveTheSameFindingsAsTheRun) {
  recordLeaks();
  const Report wanted = report();
  ASSERT_FALSE(wanted.findings.empty());
  for (const char *format : {"csv", "db"}) {
    const auto imported = importedReport(dumpOf(format));
    ASSERT_TRUE(imported) << imported.error().message;
    EXPECT_EQ(essenceOf(*imported), essenceOf(wanted)) << format;
    EXPECT_EQ(imported->peak.bytes, wanted.peak.bytes);
    EXPECT_EQ(imported->leaks.sum.bytes, wanted.leaks.sum.bytes);
    EXPECT_EQ(imported->leaks.sum.count, wanted.leaks.sum.count);
    EXPECT_TRUE(imported->complete());
    EXPECT_EQ(imported->source, "msmemscope");
    ASSERT_FALSE(imported->notes.empty());
    EXPECT_NE(imported->notes.front().find("imported from a dump of msMemScope"), std::string::npos);
  }
}

TEST_F(Dumps, LeaveNothingBehind) {
  recordLeaks();
  const fs::path dump = dumpOf("csv");
  fs::path folder;
  {
    const auto imported = ImportedRun::read(dump);
    ASSERT_TRUE(imported) << imported.error().message;
    folder = (*imported)->path();
    EXPECT_TRUE(fs::exists(folder));
  }
  EXPECT_FALSE(fs::exists(folder));
  EXPECT_FALSE(fs::exists(folder.parent_path()));
}

TEST_F(Dumps, ARunIsNoDump) {
  recordLeaks();
  EXPECT_FALSE(ImportedRun::isForeign(run));
  EXPECT_FALSE(ImportedRun::isForeign(trace_file));
  EXPECT_FALSE(ImportedRun::isForeign(base / "missing"));
  OpenedRuns opened;
  EXPECT_EQ(*opened.open(run), run.string());
  EXPECT_TRUE(ImportedRun::isForeign(dumpOf("db")));
}

// msMemScope writes a block's rows when it is freed, its attributes without quotes, and names without quotes.
TEST_F(Dumps, ReadDumpsOfMsmemscope) {
  const auto report = importedReport(
      fileOf(kNewHeader +
             "3,FREE,HAL,N/A,300,7,7,0,0x2000,\"{addr:8192,size:500}\",,\n"
             "1,MALLOC,PTA,N/A,100,7,7,1,4096,\"{addr:4096,size:300,owner:PTA@ops,total:8,used:8}\",\"a.py(3): f\n"
             "b.py(4): <module>\n\",\"/opt/libx.so(grow+0x12) [0x7f12]\n\"\n"
             "2,MALLOC,HAL,N/A,200,7,7,0,0x2000,\"{addr:8192,size:500,owner:,MID:7}\",,\n"
             "4,KERNEL_LAUNCH,KERNEL_LAUNCH,foo<int, 4>,400,7,7,0,N/A,\"{streamId:2,taskId:1}\",,\n"
             "5,MALLOC,HAL,N/A,500,7,7,host,0x3000,\"{addr:12288,size:70}\",,\n"
             "6,FREE,HAL,N/A,600,7,7,host,0x3000,\"{addr:12288,size:70,shadow:true}\",,\n"));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->peak.bytes, 500u);
  EXPECT_EQ(report->leaks.sum.bytes, 70u) << "a shadow is no free";
  EXPECT_EQ(report->leaks.pool_sum.bytes, 300u);
  ASSERT_EQ(report->leaks.pool_by_site.size(), 1u);
  const LeakLine &leak = report->leaks.pool_by_site[0];
  ASSERT_EQ(leak.paths.size(), 1u);
  std::vector<std::string> calls;
  for (const auto &call : leak.paths[0].calls)
    calls.push_back(fmt::format("{} {}:{} {}", call->function, call->file, call->line, call->library));
  EXPECT_EQ(calls, (std::vector<std::string>{"grow :0 /opt/libx.so", "f a.py:3 a.py", "<module> b.py:4 b.py"}));
}

TEST_F(Dumps, ProcessesHaveTheirOwnNames) {
  const auto report = importedReport(
      fileOf(kNewHeader + "1,MALLOC,HOST,N/A,100,7,7,cpu,4096,\"{addr:4096,size:300}\",,\"first\n\"\n"
                          "1,MALLOC,HOST,N/A,200,8,8,cpu,4096,\"{addr:4096,size:500}\",,\"second\n\"\n"));
  ASSERT_TRUE(report) << report.error().message;
  std::map<uint64_t, std::string> functions;
  for (const SiteLine &line : report->peak.by_site)
    functions[line.bytes] = line.site.function;
  EXPECT_EQ(functions, (std::map<uint64_t, std::string>{{300, "first"}, {500, "second"}}));
}

TEST_F(Dumps, ReadTheColumnsOfTheFirstVersions) {
  const auto report = importedReport(
      fileOf("Record Index,Timestamp(ns),Event,Event Type,Process Id,Thread Id,Device Id,Kernel Index,Flag,Addr,"
             "Size(byte),Total Allocated(byte),Total Reserved(byte)\n"
             "1,100,MALLOC,HAL,7,8,0,0,1,4096,640,640,640\n"
             "2,200,MALLOC,HAL,7,8,0,0,1,8192,60,700,700\n"
             "3,300,FREE,HAL,7,8,0,0,1,4096,-640,60,60\n"));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->peak.bytes, 700u);
  EXPECT_EQ(report->leaks.sum.bytes, 60u);
}

TEST_F(Dumps, ACutFileIsOneLineOrTheRowsBefore) {
  recordLeaks();
  const std::string text = contentOf(theFileIn(dumpOf("csv"), ".csv"));
  const size_t all = static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  for (size_t size = 0; size < text.size(); ++size) {
    size_t rows = 0;
    std::istringstream cut(text.substr(0, size));
    const auto read = forEachForeignRow(cut, "dump.csv", [&](const ForeignRow &) { ++rows; });
    EXPECT_LT(rows, all);
    EXPECT_TRUE(size > kNewHeader.size() || rows == 0) << size;
    if (read)
      continue;
    EXPECT_EQ(read.error().status, ExitStatus::BadInput);
    EXPECT_EQ(read.error().message.find('\n'), std::string::npos) << read.error().message;
    EXPECT_EQ(read.error().message.find("'dump.csv', row "), 0u) << read.error().message;
  }
  const std::string database = contentOf(theFileIn(dumpOf("db"), ".db"));
  for (size_t size = 0; size < database.size(); size += 61) {
    const auto read = forEachForeignRow(fileOf(database.substr(0, size), "dump.db"), [](const ForeignRow &) {});
    ASSERT_FALSE(read) << size;
    EXPECT_EQ(read.error().message.find('\n'), std::string::npos) << read.error().message;
    EXPECT_NE(read.error().message.find("dump.db"), std::string::npos) << read.error().message;
  }
}

// SQLite's message contains the name of the table whose schema is malformed.
TEST_F(Dumps, AMalformedSchemaIsOneLine) {
  recordLeaks();
  std::string database = contentOf(theFileIn(dumpOf("db"), ".db"));
  const size_t create = database.find("CREATE TABLE"), name = database.rfind("memscope_dump", create - 1);
  ASSERT_NE(create, std::string::npos);
  database[create] = 'x';
  database[name - 3] = '\n';
  const auto read = forEachForeignRow(fileOf(database, "dump.db"), [](const ForeignRow &) {});
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("malformed"), std::string::npos) << read.error().message;
  EXPECT_NE(read.error().message.find("\\x0a"), std::string::npos) << read.error().message;
  EXPECT_EQ(read.error().message.find('\n'), std::string::npos) << read.error().message;
}

TEST_F(Dumps, AChangedByteNeverCrashes) {
  recordLeaks();
  const std::string text = contentOf(theFileIn(dumpOf("csv"), ".csv"));
  for (size_t at = 0; at < text.size(); at += 19) {
    std::string changed = text;
    changed[at] = static_cast<char>(changed[at] ^ (1 << at % 8));
    const auto imported = ImportedRun::read(fileOf(changed));
    if (!imported) {
      EXPECT_EQ(imported.error().message.find('\n'), std::string::npos) << imported.error().message;
      continue;
    }
    EXPECT_TRUE(analyzeRun((*imported)->path())) << at;
  }
}

TEST_F(Dumps, AnotherCsvIsRefused) {
  for (const char *content : {"", "a,b\n1,2\n", "ID\n"}) {
    const auto report = importedReport(fileOf(content));
    ASSERT_FALSE(report) << content;
    EXPECT_EQ(report.error().status, ExitStatus::BadInput);
  }
  const auto empty = importedReport(fileOf(kNewHeader));
  ASSERT_FALSE(empty);
  EXPECT_NE(empty.error().message.find("no rows"), std::string::npos) << empty.error().message;
}

} // namespace msleaks::analysis
