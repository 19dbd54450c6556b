// Tests that a memory snapshot of PyTorch becomes a run of msleaks.
#include "import_fixture.h"

#include "analysis/exporters/pickle.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace msleaks::analysis {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;

constexpr uint64_t kBase = uint64_t{0x7f} << 40;

// Values in the shape of torch/csrc/cuda/memory_snapshot.cpp.
Json framesOf(const std::vector<std::tuple<std::string, unsigned, std::string>> &calls) {
  Json list = Json::array();
  for (const auto &[file, line, function] : calls)
    list.push_back({{"filename", file}, {"line", line}, {"name", function}});
  return list;
}
Json trainStep() {
  return framesOf({{"??", 0, "??"},
                   {"??", 0, "c10::cuda::CUDACachingAllocator::malloc"},
                   {"/home/u/train.py", 12, "forward"},
                   {"??", 0, "_PyEval_EvalFrameDefault"},
                   {"call.c", 7, "PyObject_Call"},
                   {"/home/u/train.py", 40, "<module>"}});
}
Json entry(const char *action, uint64_t address, uint64_t size, uint64_t time_us, const Json &frames = trainStep()) {
  return {{"action", action}, {"addr", kBase + address}, {"size", size}, {"stream", uint64_t{0}}, {"time_us", time_us},
          {"frames", frames}, {"compile_context", "N/A"}};
}
Json blockAt(uint64_t address, uint64_t size, const char *state, const Json &frames = Json::array()) {
  return {{"address", kBase + address}, {"size", size}, {"requested_size", size}, {"state", state}, {"frames", frames}};
}
Json segmentOf(uint64_t device, uint64_t address, uint64_t size, const Json &blocks) {
  return {{"device", device}, {"address", kBase + address}, {"total_size", size},
          {"blocks", blocks}, {"is_expandable", false},     {"segment_type", "large"}};
}
std::string pickled(const Json &value) {
  Pickle pickle;
  pickle.json(value);
  pickle.stop();
  return pickle.code();
}
// A list of JSON. Braces alone would copy a single value.
template <class... Values> Json listOf(const Values &...values) {
  Json list = Json::array();
  (list.push_back(values), ...);
  return list;
}
std::string snapshotOf(const Json &traces, const Json &segments = Json::array()) {
  return pickled({{"segments", segments}, {"device_traces", traces}});
}

// The peak of a heap.
uint64_t peakOf(const Report &report, abi::Heap heap) {
  for (const HeapPeak &peak : report.peak.by_heap)
    if (peak.heap == heap)
      return peak.bytes;
  return 0;
}

class PytorchImport : public ImportTest {
protected:
  void exportRunAs(const char *format, const std::vector<StreamEvent> &list) {
    start(1, 4711);
    events(list);
    end(1, 0, kStart + 1'000'000);
    manifest();
    close();
    std::ostringstream out;
    ASSERT_TRUE(exportRun(run, *formatOf(format), out));
    exported = fileOf(out.str(), "exported.pickle");
  }
  fs::path exported;
};

} // namespace

TEST_F(PytorchImport, AnExportHasTheSameFindings) {
  const Where mapping{.heap = abi::Heap::Mapping, .site = 2}, device{.heap = abi::Heap::Device, .site = 2, .device = 1},
      pinned{.heap = abi::Heap::Pinned, .site = 1};
  std::vector<StreamEvent> list;
  for (uint64_t i = 0; i < 6; ++i) {
    const uint64_t time_ns = kStart + 1000 * (i + 1);
    list.push_back(test::alloc(time_ns + 10, 0x1000 + i * 0x100, 100 + i, kOne));
    list.push_back(test::alloc(time_ns + 20, 0x9000, 50'000'000, kTwo));
    list.push_back(test::alloc(time_ns + 30, 0x10000000 + i * 0x10000, 4096, device));
    list.push_back(test::alloc(time_ns + 31, 0x20000000 + i * 0x10000, 8192, mapping));
    list.push_back(test::alloc(time_ns + 32, 0x30000000 + i * 0x10000, 300, pinned));
    list.push_back(test::free(time_ns + 40, 0x9000, kTwo));
  }
  exportRunAs("pytorch", list);
  const Report wanted = report();
  ASSERT_FALSE(wanted.findings.empty());
  const auto imported = importedReport(exported);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(essenceOf(*imported), essenceOf(wanted));
  EXPECT_EQ(imported->peak.bytes, wanted.peak.bytes);
  EXPECT_EQ(imported->leaks.sum.bytes, wanted.leaks.sum.bytes);
  EXPECT_EQ(imported->leaks.sum.count, wanted.leaks.sum.count);
  for (const abi::Heap heap : {abi::Heap::Host, abi::Heap::Device, abi::Heap::Mapping, abi::Heap::Pinned})
    EXPECT_EQ(peakOf(*imported, heap), peakOf(wanted, heap)) << abi::nameOf(heap);
  EXPECT_TRUE(imported->complete());
  EXPECT_EQ(imported->source, "pytorch");
  EXPECT_EQ(imported->command, wanted.command);
}

TEST_F(PytorchImport, AnExportKeepsPools) {
  const Where device{.heap = abi::Heap::Device, .site = 1}, host{.site = 1};
  exportRunAs("pytorch",
              {test::alloc(kStart + 1000, 0x10000000, 1 << 20, device),
               test::alloc(kStart + 2000, 0x10000000, 1000, kPart), test::alloc(kStart + 3000, 0x10001000, 3000, kPart),
               test::alloc(kStart + 3500, 0x50, 70, host), test::free(kStart + 4000, 0x10000000, kPart)});
  const Report wanted = report(), imported = *importedReport(exported);
  EXPECT_EQ(essenceOf(imported), essenceOf(wanted));
  EXPECT_EQ(peakOf(imported, abi::Heap::Pool), 4000u);
  EXPECT_EQ(imported.leaks.pool_sum.bytes, 3000u);
  EXPECT_EQ(imported.leaks.sum.bytes, wanted.leaks.sum.bytes);
}

TEST_F(PytorchImport, ReadsEventsAndTheStateAtTheEnd) {
  const Json later = framesOf({{"/home/u/train.py", 33, "step"}});
  const Json events =
      listOf(entry("segment_alloc", 0, 20000, 5), entry("alloc", 0, 5000, 6), entry("alloc", 5000, 3000, 7, later),
             entry("free_requested", 0, 5000, 8), entry("free_completed", 0, 5000, 9),
             entry("free_requested", 100'000, 1000, 10), entry("free_completed", 100'000, 1000, 11));
  const Json first = listOf(blockAt(0, 5000, "inactive"), blockAt(5000, 3000, "active_allocated", later)),
             second = listOf(blockAt(100'000, 1000, "inactive"), blockAt(101'000, 500, "active_awaiting_free")),
             third = listOf(blockAt(900'000, 700, "active_allocated", trainStep()));
  const Report report = reportOfFile(snapshotOf(
      listOf(events, Json::array()),
      listOf(segmentOf(0, 0, 20000, first), segmentOf(0, 100'000, 2000, second), segmentOf(1, 900'000, 700, third))));
  EXPECT_EQ(peakOf(report, abi::Heap::Device), 22'700u);
  EXPECT_EQ(peakOf(report, abi::Heap::Pool), 10'200u) << "8000 of the events, and the three older blocks";
  EXPECT_EQ(report.leaks.pool_sum.bytes, 0u) << "the program still ran";
  EXPECT_EQ(report.alive.pool_sum.bytes, 4200u);
  EXPECT_EQ(jsonText(report).find("PyEval"), std::string::npos) << "the interpreter's own calls are left out";
  EXPECT_EQ(jsonText(report).find("PyObject_Call"), std::string::npos);
  EXPECT_NE(jsonText(report).find("CUDACachingAllocator"), std::string::npos);
  EXPECT_TRUE(hasNote(report, "3 blocks with 2200 bytes are older"));
  EXPECT_TRUE(hasNote(report, "imported from a memory snapshot of PyTorch"));
  EXPECT_EQ(report.events.stored, 10u) << "five of the list, and five of older blocks and segments";
}

TEST_F(PytorchImport, PartsOfExpandableSegmentsMayBeUnmapped) {
  const Json events =
      listOf(entry("segment_map", 0, 20000, 5), entry("segment_map", 20000, 20000, 6), entry("alloc", 0, 30000, 7),
             entry("free_requested", 0, 30000, 8), entry("free_completed", 0, 30000, 9),
             entry("segment_unmap", 10000, 20000, 10), entry("segment_unmap", 35000, 10000, 11));
  const Report report =
      reportOfFile(snapshotOf(listOf(events), listOf(segmentOf(0, 0, 10000, listOf(blockAt(0, 10000, "inactive"))),
                                                     segmentOf(0, 30000, 5000, Json::array()))));
  EXPECT_EQ(peakOf(report, abi::Heap::Device), 45'000u) << "5000 bytes of the last unmapping are older";
  EXPECT_EQ(report.alive.sum.bytes, 15'000u);
  EXPECT_EQ(peakOf(report, abi::Heap::Pool), 30'000u);
}

TEST_F(PytorchImport, ReadsRefusedMemoryOwnersStepsAndHostMemory) {
  Json owned = entry("alloc", 0, 3000, 6);
  owned["user_metadata"] = "loader";
  const auto annotation = [](const char *name, const char *stage, unsigned time_us) {
    return Json{{"name", name}, {"stage", stage}, {"device", 0u}, {"time_us", time_us}};
  };
  const Json snapshot = {
      {"segments", Json::array()},
      {"device_traces", listOf(listOf(entry("segment_alloc", 0, 4000, 5), owned, entry("oom", 0, 80'000, 7)))},
      {"host_traces", listOf(listOf(entry("segment_alloc", 50'000, 900, 5), entry("alloc", 50'000, 800, 6)))},
      {"external_annotations", listOf(annotation("ProfilerStep#3", "START", 5), annotation("ProfilerStep#3", "END", 9),
                                      annotation("never begun", "END", 9))}};
  const Report report = reportOfFile(pickled(snapshot));
  EXPECT_EQ(peakOf(report, abi::Heap::Pinned), 900u);
  EXPECT_EQ(peakOf(report, abi::Heap::Pool), 3800u);
  const json found = json::parse(jsonText(report));
  std::vector<std::string> kinds;
  for (const json &finding : found["findings"])
    kinds.push_back(finding["kind"].get<std::string>());
  EXPECT_TRUE(std::ranges::count(kinds, "out-of-memory") == 1) << fmt::format("{}", fmt::join(kinds, " "));
  EXPECT_NE(found.dump().find("loader"), std::string::npos);
  EXPECT_EQ(report.events.stored, 9u);
}

TEST_F(PytorchImport, TimesMayBeMissing) {
  Json alloc = entry("alloc", 0, 3000, 0), freed = entry("free_completed", 0, 3000, 0);
  alloc.erase("time_us");
  freed.erase("time_us");
  const Report report = reportOfFile(snapshotOf(listOf(listOf(alloc, freed, alloc))));
  EXPECT_EQ(peakOf(report, abi::Heap::Pool), 3000u);
  EXPECT_EQ(report.alive.pool_sum.bytes, 3000u);
  EXPECT_TRUE(hasNote(report, "no times"));
}

TEST_F(PytorchImport, HostileNamesAreText) {
  const std::string names[] = {"a;b \"c\",\n<e>{f}\x1b[31m=1+1", "\xff\xfe(", std::string(4096, 'n'),
                               std::string(1 << 20, 'm'),        "",          "){x:1}: "};
  Json calls = Json::array(), events = Json::array();
  uint64_t at = 0;
  for (const std::string &name : names)
    for (const std::string &file : {name + ".py", name, "/lib/" + name + ".so.6"}) {
      Json event = entry("alloc", at, 10, at, framesOf({{file, 7, name}, {"/home/u/main.py", 3, name}}));
      event["user_metadata"] = name;
      events.push_back(event);
      at += 10;
    }
  const Report report = reportOfFile(snapshotOf(listOf(events)));
  EXPECT_EQ(peakOf(report, abi::Heap::Pool), 180u);
  EXPECT_NE(jsonText(report).find(std::string(1000, 'n')), std::string::npos);
  tableText(report);
}

TEST_F(PytorchImport, ACutFileIsOneLine) {
  const std::string pickle =
      snapshotOf(listOf(listOf(entry("segment_alloc", 0, 20000, 5), entry("alloc", 0, 5000, 6))),
                 listOf(segmentOf(0, 0, 20000, listOf(blockAt(0, 5000, "active_allocated", trainStep())))));
  for (size_t size = 2; size < pickle.size(); size += 5) {
    const auto report = importedReport(fileOf(pickle.substr(0, size), "s.pickle"));
    ASSERT_FALSE(report) << size;
    EXPECT_EQ(report.error().status, ExitStatus::BadInput);
    EXPECT_EQ(report.error().message.find('\n'), std::string::npos) << report.error().message;
    EXPECT_NE(report.error().message.find("s.pickle': "), std::string::npos) << report.error().message;
  }
  cutAndChange(pickle, 23);
}

// os.system("true") as a pickle.
TEST_F(PytorchImport, APickleThatCallsIsRefused) {
  const auto report = importedReport(fileOf("\x80\x02"
                                            "cos\nsystem\nX\x04\0\0\0true\x85R."s,
                                            "s.pickle"));
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().message.find("could run code and is not read"), std::string::npos);
  const auto other = importedReport(fileOf(pickled({{"a", 1u}}), "s.pickle"));
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("no memory snapshot of PyTorch"), std::string::npos);
  const auto empty = importedReport(fileOf(snapshotOf(Json::array()), "s.pickle"));
  ASSERT_FALSE(empty);
  EXPECT_NE(empty.error().message.find("nothing that msleaks can use"), std::string::npos);
}

} // namespace msleaks::analysis
