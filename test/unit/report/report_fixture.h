// A fixture that writes a complete run with TraceWriter, and returns its report.
#pragma once

#include "analysis/report/analyze_run.h"
#include "analysis/result/report.h"

#include "../live/events.h"
#include "../places/table_bytes.h"

#include "analysis/base/run_folder.h"
#include "analysis/text/report_text.h"
#include "analysis/trace/trace_writer.h"
#include "msleaks/abi/definitions.h"
#include "msleaks/abi/session.h"

#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>

namespace msleaks::analysis {
using nlohmann::json;
using test::Where;

inline constexpr uint64_t kStart = 1'000'000'000, kMs = 1'000'000, kMiB = 1 << 20;

// Events with `kOne` are at site 1, and events with `kTwo` are at site 2. Both sites are in the user's own code.
inline constexpr Where kOne{.site = 1}, kTwo{.site = 2};
// Events with `kPart` are allocations and frees of parts of a pool's memory, at site 2.
inline constexpr Where kPart{.heap = abi::Heap::Pool, .site = 2};

// Returns `actual` with only the keys of `wanted`, at every depth. So a new key of the JSON breaks no test.
inline json withKeysOf(const json &wanted, const json &actual) {
  if (wanted.is_array() && actual.is_array()) {
    json list = json::array();
    for (size_t i = 0; i < actual.size(); ++i)
      list.push_back(i < wanted.size() ? withKeysOf(wanted[i], actual[i]) : actual[i]);
    return list;
  }
  if (!wanted.is_object() || !actual.is_object())
    return actual;
  json object = json::object();
  for (const auto &[key, value] : wanted.items())
    if (actual.contains(key))
      object[key] = withKeysOf(value, actual[key]);
  return object;
}
inline void expectKeys(const json &actual, const json &wanted) { EXPECT_EQ(withKeysOf(wanted, actual), wanted); }

template <class T> inline std::string raw(const T &value) {
  return {reinterpret_cast<const char *>(&value), sizeof value};
}

inline std::string record(abi::DefinitionKind kind, const std::string &body) {
  const auto *first = reinterpret_cast<const unsigned char *>(body.data());
  std::string bytes = raw(abi::DefinitionHeader{abi::kDefinitionMagic, kind, static_cast<uint32_t>(body.size()),
                                                abi::fnv1a32(first, body.size())}) +
                      body;
  bytes.resize((bytes.size() + 7) & ~size_t{7});
  return bytes;
}

inline constexpr char kLibrary[] = "/nowhere/libx.so";

// Returns the definitions of process 1, which is /bin/net. The site numbers of the sample table begin at 1. Caller 0 is
// in a library whose file is missing.
inline std::string definitions(const std::string &library_file = kLibrary) {
  abi::ImageDefinition net{}, library{};
  net.image = 1;
  library.image = 2;
  library.load_bias = 0x7000;
  const auto table = test::sampleTable().build();
  const std::string unit(reinterpret_cast<const char *>(table.data()), table.size());
  return record(abi::DefinitionKind::Image, raw(net) + "/bin/net") +
         record(abi::DefinitionKind::Image, raw(library) + library_file) +
         record(abi::DefinitionKind::Unit, raw(abi::UnitDefinition{1, 1}) + unit);
}

class ReportTest : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "msleaks-report-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    base = pattern;
    run = base / "run";
    auto folder = RunFolder::create(run);
    ASSERT_TRUE(folder) << folder.error().message;
    trace_file = folder->trace();
    auto created = TraceWriter::create(trace_file);
    ASSERT_TRUE(created) << created.error().message;
    writer = std::make_unique<TraceWriter>(std::move(*created));
  }
  void TearDown() override {
    writer.reset();
    std::filesystem::remove_all(base);
  }

  void start(uint32_t process, uint32_t pid, uint64_t time_ns = kStart, const std::string &library = kLibrary) {
    ASSERT_TRUE(writer->processStart({process, pid, 1, time_ns, 0, {"/bin/net", "--size", "7"}}));
    const std::string records = definitions(library);
    ASSERT_TRUE(writer->definitions(process, std::as_bytes(std::span(records))));
    const TraceWriter::CallerEntry callers[] = {{0, 2, 0x7123}};
    ASSERT_TRUE(writer->callers(process, callers));
  }
  void events(const std::vector<StreamEvent> &list, uint64_t dropped = 0, uint64_t stalled_ns = 0) {
    struct Stream {
      std::vector<abi::Slot> slots;
      uint64_t events = 0;
    };
    std::map<std::pair<uint32_t, uint32_t>, Stream> streams;
    for (const StreamEvent &event : list) {
      Stream &stream = streams[{event.process, event.stream}];
      const auto slots = std::span(event.event.slots).first(abi::slotsOf(event.event.header().kind));
      stream.slots.insert(stream.slots.end(), slots.begin(), slots.end());
      ++stream.events;
    }
    for (const auto &[where, stream] : streams) {
      ASSERT_TRUE(writer->events({where.first, where.second, 0, stream.slots}));
      ASSERT_TRUE(writer->streamAccount(
          {where.first, where.second, 100, "main", stream.events + dropped, dropped, stalled_ns}));
    }
  }
  // Stores these events. Then states that the trace contains all events before `until_ns`.
  void grow(const std::vector<StreamEvent> &list, uint64_t until_ns) {
    for (const StreamEvent &event : list) {
      const auto slots = std::span(event.event.slots).first(abi::slotsOf(event.event.header().kind));
      uint64_t &position = positions_[{event.process, event.stream}];
      ASSERT_TRUE(writer->events({event.process, event.stream, position, slots}));
      position += slots.size();
    }
    ASSERT_TRUE(writer->completeUntil(until_ns));
  }
  void end(uint32_t process, int status, uint64_t time_ns) {
    ASSERT_TRUE(writer->processEnd({process, time_ns, status, 0}));
  }
  void manifest(const std::string &state = "complete") {
    Manifest manifest;
    manifest.state = state;
    manifest.start_ns = kStart;
    manifest.end_ns = kStart + 2'000'000'000;
    manifest.command = {"/bin/net", "--size", "7"};
    manifest.collector_cpu_ns = 5'000'000;
    manifest.notes = {"a note of the collector"};
    auto folder = RunFolder::open(run);
    ASSERT_TRUE(folder) << folder.error().message;
    ASSERT_TRUE(folder->writeManifest(manifest));
  }
  void close() {
    ASSERT_TRUE(writer->close());
    writer.reset();
  }
  Report report() {
    auto report = analyzeRun(run);
    EXPECT_TRUE(report) << report.error().message;
    if (report)
      expectReadBack(*report);
    return report.value_or(Report{});
  }
  static std::string jsonText(const Report &report) {
    std::ostringstream out;
    writeReportJson(out, report);
    return out.str();
  }
  static std::string tableText(const Report &report) {
    std::ostringstream out;
    writeReportTable(out, report, {});
    return out.str();
  }
  static std::string screenText(const Report &report) {
    std::ostringstream out;
    writeScreen(out, report, {});
    return out.str();
  }
  // Writes the report as JSON, and expects that the report that is read back is the same, as JSON and as text.
  void expectReadBack(const Report &report) const {
    const std::filesystem::path file = base / "result.json";
    const std::string json = jsonText(report);
    std::ofstream(file, std::ios::binary) << json;
    EXPECT_TRUE(isResultFile(file));
    const auto again = readReportJson(file);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(jsonText(*again), json);
    const bool has_only_text = json.find("\xef\xbf\xbd") == std::string::npos; // U+FFFD replaces other bytes
    EXPECT_TRUE(!has_only_text || tableText(*again) == tableText(report)) << tableText(*again);
    EXPECT_TRUE(!has_only_text || screenText(*again) == screenText(report)) << screenText(*again);
  }
  json asJson() {
    std::ostringstream out;
    writeReportJson(out, report());
    return json::parse(out.str());
  }
  // Returns the report of a process that records these events and then exits.
  json reportOf(const std::vector<StreamEvent> &list) {
    start(1, 4711);
    events(list);
    end(1, 0, kStart + 1000);
    manifest();
    close();
    return asJson();
  }
  // Returns the first finding of this kind, and of this line if a line is given. Returns null if there is none.
  static json findingOf(const json &report, const std::string &kind, uint32_t line = 0) {
    for (const json &finding : report["findings"])
      if (finding["kind"] == kind && (line == 0 || finding["site"]["line"] == line))
        return finding;
    return {};
  }
  std::string asTable(size_t columns = 80, size_t top = 10) {
    std::ostringstream out;
    writeReportTable(out, report(), {.columns = columns, .top = top, .color = false});
    return out.str();
  }

  std::filesystem::path base, run, trace_file;
  std::unique_ptr<TraceWriter> writer;

private:
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> positions_; // the positions that grow() has reached
};

// Returns the events of a small run: weights stay alive, two temporary blocks make the peak, and a block of a library
// is never freed.
inline std::vector<StreamEvent> smallRun() {
  const Where weights{.site = 1}, temporary{.site = 2}, library{.flags = abi::kFromHook, .site = abi::kCallerSite};
  const Where device{.heap = abi::Heap::Device, .site = 1}, unknown{.flags = abi::kFromHook};
  return {test::alloc(kStart + 100, 0x10, 1000, weights), test::alloc(kStart + 200, 0x20, 5000, temporary),
          test::alloc(kStart + 300, 0x30, 70, library),   test::alloc(kStart + 400, 0x10, 4096, device),
          test::free(kStart + 500, 0x20, temporary),      test::free(kStart + 600, 0x10, device),
          test::alloc(kStart + 700, 0x40, 30, weights),   test::alloc(kStart + 800, 0x50, 1, unknown),
          test::free(kStart + 900, 0x999, unknown)};
}

} // namespace msleaks::analysis
