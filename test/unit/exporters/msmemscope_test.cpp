// Tests the formats csv and db, which write the dumps of msMemScope.
#include "analysis/compare/msmemscope_dump.h"
#include "analysis/exporters/export_run.h"
#include "analysis/exporters/registry.h"

#include "../report/report_fixture.h"

#include <algorithm>
#include <map>
#include <sqlite3.h>

namespace msleaks::analysis {
namespace {

using Rows = std::vector<std::vector<std::string>>;

const std::string kDumpHeader = "ID,Event,Event Type,Name,Timestamp(ns),Process Id,Thread Id,Device Id,Ptr,Attr,"
                                "Call Stack(Python),Call Stack(C)\n";

class Dumps : public ReportTest {
protected:
  // Numbers of labels.
  enum : uint64_t { kKernelName = 5, kOwnerName, kMarkName, kRangeName };

  void record(const std::vector<StreamEvent> &list,
              const std::map<uint64_t, std::string> &texts = {
                  {kKernelName, "gemm"}, {kOwnerName, "model@layer"}, {kMarkName, "loaded"}, {kRangeName, "epoch 1"}}) {
    ASSERT_TRUE(writer->processStart({1, 4711, 1, kStart, kStart + kRealtime, {"/bin/net"}}));
    std::string records = definitions();
    for (const auto &[number, text] : texts)
      records += msleaks::analysis::record(abi::DefinitionKind::String,
                                           raw(abi::StringDefinition{static_cast<uint32_t>(number), 0}) + text);
    ASSERT_TRUE(writer->definitions(1, std::as_bytes(std::span(records))));
    const TraceWriter::CallerEntry callers[] = {{0, 2, 0x7123}};
    ASSERT_TRUE(writer->callers(1, callers));
    events(list);
    end(1, 0, kStart + 900);
    manifest();
    close();
  }
  // Exports the run. Returns the files of the folder, by device.
  std::map<std::string, std::filesystem::path> exported(const char *format) {
    const std::filesystem::path path = base / format;
    const auto folder = *OutputFolder::create(path);
    const auto damage = exportRun(run, *formatOf(format), *folder);
    EXPECT_TRUE(damage) << damage.error().message;
    const auto committed = folder->commit();
    EXPECT_TRUE(committed) << committed.error().message;
    std::map<std::string, std::filesystem::path> files;
    for (const auto &entry : std::filesystem::recursive_directory_iterator(path))
      if (entry.is_regular_file())
        files[entry.path().parent_path().parent_path().filename()] = entry.path();
    return files;
  }
  static std::string textOf(const std::filesystem::path &file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static Rows csvRows(const std::filesystem::path &file) {
    std::ifstream in(file, std::ios::binary);
    CsvReader reader(in, file);
    Rows rows;
    while (*reader.next())
      rows.push_back(reader.cells());
    rows.erase(rows.begin()); // the header
    return rows;
  }
  static Rows databaseRows(const std::filesystem::path &file) {
    sqlite3 *database = nullptr;
    EXPECT_EQ(sqlite3_open_v2(file.c_str(), &database, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
    Rows rows;
    const auto take = [](void *to, int count, char **cells, char **) {
      std::vector<std::string> row;
      for (int i = 0; i < count; ++i)
        row.emplace_back(cells[i]);
      static_cast<Rows *>(to)->push_back(std::move(row));
      return 0;
    };
    EXPECT_EQ(sqlite3_exec(database, "SELECT * FROM memscope_dump", take, &rows, nullptr), SQLITE_OK);
    sqlite3_close(database);
    return rows;
  }

  static constexpr uint64_t kRealtime = 1'700'000'000'000'000'000; // 2023-11-14 22:13:20
};

const Where kOnDevice{.heap = abi::Heap::Device, .site = 1}, kPinned{.heap = abi::Heap::Pinned, .site = 2};

// An event of each kind that becomes a row.
std::vector<StreamEvent> eachKind() {
  auto launched = test::launch(kStart + 140, 0);
  launched.event.slots[0].payload[0] = 0x77;
  launched.event.slots[0].payload[1] = 3;
  return {test::make<abi::OwnerPushEvent>(kStart + 5, {}, 6, 0),
          test::alloc(kStart + 10, 0x1000, 100, kOne),
          test::make<abi::OwnerPopEvent>(kStart + 15, {}, 6, 0),
          test::alloc(kStart + 20, 0x2000, 200, kPinned),
          test::alloc(kStart + 30, 0x3000, 300, kOnDevice),
          test::alloc(kStart + 40, 0x3000, 30, kPart),
          test::make<abi::StepEvent>(kStart + 50, {}, 7, 0),
          test::epoch(kStart + 55, UINT32_MAX),
          test::make<abi::MarkEvent>(kStart + 60, {}, 7, 0),
          test::make<abi::RangeBeginEvent>(kStart + 70, {}, 8, 21),
          test::make<abi::RangeEndEvent>(kStart + 80, {}, 21, 0),
          test::make<abi::KernelEvent>(kStart + 130, {}, 0x77, 5),
          launched,
          test::access(kStart + 150, 0x3000, {.heap = abi::Heap::Device, .flags = abi::kListed | abi::kWrite}),
          test::fill(kStart + 160, 0x3000),
          test::allocFailed(kStart + 170, 1 << 20, kOnDevice),
          test::free(kStart + 180, 0x3000, kPart),
          test::free(kStart + 190, 0x3000, kOnDevice),
          test::free(kStart + 200, 0x2000, kPinned)};
}

} // namespace

TEST_F(Dumps, HaveAFolderForEachDevice) {
  record(eachKind());
  const auto files = exported("csv");
  ASSERT_EQ(files.size(), 2u);
  const std::string folder = "msmemscope_4711_20231114221321_ascend/";
  EXPECT_EQ(files.at("device_cpu"), base / "csv" / (folder + "device_cpu/dump/memscope_dump_20231114221321.csv"));
  EXPECT_EQ(files.at("device_0"), base / "csv" / (folder + "device_0/dump/memscope_dump_20231114221321.csv"));
}

TEST_F(Dumps, HaveARowForEachKindOfEvent) {
  record(eachKind());
  const auto files = exported("csv");
  EXPECT_EQ(
      textOf(files.at("device_0")),
      kDumpHeader +
          R"csv(3,MALLOC,HAL,N/A,1700000001000000030,4711,100,0,0x0000000000003000,"{""allocation_id"":""3"",""addr"":""0x3000"",""size"":""300"",""used"":""300""}",,"/bin/net(net::grow(unsigned long)) src/net.cpp:12
"
4,MALLOC,PTA,N/A,1700000001000000040,4711,100,0,0x0000000000003000,"{""allocation_id"":""4"",""addr"":""0x3000"",""size"":""30"",""used"":""30""}",,"/bin/net(net::grow(unsigned long)) src/net.cpp:3
/bin/net(net::make()) src/net.cpp:40
/bin/net(main) src/net.cpp:90
"
5,SYSTEM,STEP,N/A,1700000001000000050,4711,100,N/A,N/A,"{""step"":""7""}",,
6,SYSTEM,START_TRACE,N/A,1700000001000000055,4711,100,N/A,N/A,{},,
7,MSTX,Mark,loaded,1700000001000000060,4711,100,N/A,N/A,{},,
8,MSTX,Range_start,epoch 1,1700000001000000070,4711,100,N/A,N/A,"{""rangeId"":""21""}",,
9,MSTX,Range_end,N/A,1700000001000000080,4711,100,N/A,N/A,"{""rangeId"":""21""}",,
10,KERNEL_LAUNCH,KERNEL_LAUNCH,gemm,1700000001000000140,4711,100,0,N/A,"{""streamId"":""3"",""taskId"":""1""}",,
11,ACCESS,WRITE,gemm,1700000001000000150,4711,100,0,0x0000000000003000,"{""allocation_id"":""3"",""addr"":""0x3000"",""size"":""300"",""type"":""HAL""}",,
12,ACCESS,WRITE,N/A,1700000001000000160,4711,100,0,0x0000000000003000,"{""allocation_id"":""3"",""addr"":""0x3000"",""size"":""8"",""type"":""HAL""}",,
13,OOM_DETAIL,OOM_TRIGGER,OOM_Trigger,1700000001000000170,4711,100,0,N/A,"{""func"":""malloc"",""req_size"":""1048576"",""flag"":""12""}",,
14,FREE,PTA,N/A,1700000001000000180,4711,100,0,0x0000000000003000,"{""allocation_id"":""4"",""addr"":""0x3000"",""size"":""30"",""used"":""0""}",,
15,FREE,HAL,N/A,1700000001000000190,4711,100,0,0x0000000000003000,"{""allocation_id"":""3"",""addr"":""0x3000"",""size"":""300"",""used"":""0""}",,
)csv");
  EXPECT_EQ(
      textOf(files.at("device_cpu")),
      kDumpHeader +
          R"csv(1,MALLOC,HOST,N/A,1700000001000000010,4711,100,cpu,0x0000000000001000,"{""allocation_id"":""1"",""addr"":""0x1000"",""size"":""100"",""total"":""100"",""owner"":""model@layer""}",,"/bin/net(net::grow(unsigned long)) src/net.cpp:12
"
2,MALLOC,HOST,N/A,1700000001000000020,4711,100,cpu,0x0000000000002000,"{""allocation_id"":""2"",""addr"":""0x2000"",""size"":""200"",""used"":""200"",""pinned"":""true""}",,"/bin/net(net::grow(unsigned long)) src/net.cpp:3
/bin/net(net::make()) src/net.cpp:40
/bin/net(main) src/net.cpp:90
"
5,SYSTEM,STEP,N/A,1700000001000000050,4711,100,N/A,N/A,"{""step"":""7""}",,
6,SYSTEM,START_TRACE,N/A,1700000001000000055,4711,100,N/A,N/A,{},,
7,MSTX,Mark,loaded,1700000001000000060,4711,100,N/A,N/A,{},,
8,MSTX,Range_start,epoch 1,1700000001000000070,4711,100,N/A,N/A,"{""rangeId"":""21""}",,
9,MSTX,Range_end,N/A,1700000001000000080,4711,100,N/A,N/A,"{""rangeId"":""21""}",,
16,FREE,HOST,N/A,1700000001000000200,4711,100,cpu,0x0000000000002000,"{""allocation_id"":""2"",""addr"":""0x2000"",""size"":""200"",""used"":""0"",""pinned"":""true""}",,
17,FREE,HOST,N/A,1700000001000000900,4711,100,cpu,0x0000000000001000,"{""allocation_id"":""1"",""addr"":""0x1000"",""size"":""100"",""shadow"":""true""}",,
)csv");
}

TEST_F(Dumps, AreTheSameInBothFormats) {
  record(eachKind());
  const auto texts = exported("csv"), databases = exported("db");
  ASSERT_EQ(texts.size(), databases.size());
  for (const auto &[device, file] : texts)
    EXPECT_EQ(csvRows(file), databaseRows(databases.at(device))) << device;
}

// The sum over all files at the highest point is the report's peak.
TEST_F(Dumps, HaveTheReportsPeakAndLeaks) {
  record(eachKind());
  Rows rows;
  for (const auto &[device, file] : exported("csv"))
    for (auto &row : csvRows(file))
      rows.push_back(row);
  std::ranges::stable_sort(rows, {}, [](const auto &row) { return std::stoull(row[4]); });
  int64_t now = 0, peak = 0, left = 0;
  for (const auto &row : rows) {
    if (row[2] == "PTA" || (row[1] != "MALLOC" && row[1] != "FREE"))
      continue;
    const json attributes = json::parse(row[9]);
    const int64_t size = std::stoll(attributes["size"].get<std::string>());
    now += row[1] == "MALLOC" ? size : -size;
    peak = std::max(peak, now);
    left += attributes.contains("shadow") ? size : 0;
  }
  const json report = asJson();
  EXPECT_EQ(peak, report["peak"]["bytes"]);
  EXPECT_EQ(left, report["leaks"]["bytes"]);
  EXPECT_EQ(now, 0);
}

TEST_F(Dumps, AnyNameIsShown) {
  const std::vector<std::string> names{"a,b",   "say \"hi\"",         "<script>&amp;",       "=1+1",
                                       "{k:v}", "gr\xc3\xb6\xc3\x9f", std::string(4096, 'x')};
  std::map<uint64_t, std::string> texts{{1, "two\nlines\r"}, {2, "no \xff text"}};
  std::vector<StreamEvent> list{test::alloc(kStart + 1, 0x1000, 100, kOne)};
  std::vector<std::string> wanted{"two\\x0alines\\x0d", "no \\xff text"};
  for (const std::string &name : names) {
    texts[texts.size() + 1] = name;
    wanted.push_back(name);
  }
  for (uint64_t number = 1; number <= texts.size(); ++number)
    list.push_back(test::make<abi::MarkEvent>(kStart + 10 + number, {}, number, 0));
  record(list, texts);
  for (const char *format : {"csv", "db"}) {
    const std::filesystem::path file = exported(format).at("device_cpu");
    std::vector<std::string> shown;
    for (const auto &row : format == std::string("csv") ? csvRows(file) : databaseRows(file))
      if (row[1] == "MSTX")
        shown.push_back(row[3]);
    EXPECT_EQ(shown, wanted) << format;
  }
}

// msMemScope writes its attributes without quotes, so this reader must accept both.
TEST_F(Dumps, CanBeCompared) {
  record(eachKind());
  NameTable names;
  const auto dump = readMsmemscopeDump(exported("csv").at("device_0"), DumpLevel::Kernel, names);
  ASSERT_TRUE(dump) << dump.error().message;
  ASSERT_EQ(dump->size(), 1u);
  EXPECT_EQ((*dump)[0].device, "0");
  ASSERT_EQ((*dump)[0].launches.size(), 1u);
  EXPECT_EQ((*dump)[0].launches[0].size, 30) << "of the pool's next row";
}

TEST_F(Dumps, AFullDiskIsAnError) {
  record(eachKind());
  for (const char *format : {"csv", "db"}) {
    const auto folder = *OutputFolder::create(base / format);
    folder->refuse({"the disk is full", ExitStatus::OwnFault});
    const auto damage = exportRun(run, *formatOf(format), *folder);
    ASSERT_FALSE(damage);
    EXPECT_EQ(damage.error().status, ExitStatus::OwnFault);
    EXPECT_FALSE(folder->commit());
    EXPECT_FALSE(std::filesystem::exists(base / format));
  }
}

} // namespace msleaks::analysis
