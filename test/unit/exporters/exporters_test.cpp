#include "analysis/exporters/export_run.h"
#include "analysis/exporters/registry.h"
#include "analysis/text/report_text.h"

#include "../report/report_fixture.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <streambuf>

namespace msleaks::analysis {
namespace {

const std::set<std::string_view> kPathFormats{"dhat", "folded", "otlp", "pprof", "speedscope"};

class Exporters : public ReportTest {
protected:
  // Records blocks and two marks. The process has defined the label of only one mark.
  void SetUp() override {
    ReportTest::SetUp();
    start(1, 4711);
    const std::string label = record(abi::DefinitionKind::String, raw(abi::StringDefinition{5, 0}) + "loss \"a\"\n");
    ASSERT_TRUE(writer->definitions(1, std::as_bytes(std::span(label))));
    auto list = smallRun();
    list.push_back(test::make<abi::MarkEvent>(kStart + 950, {}, 5, 0));
    list.push_back(test::make<abi::MarkEvent>(kStart + 960, {}, 6, 0));
    events(list);
    end(1, 0, kStart + 1'000'000);
    manifest();
    close();
  }
  std::string exported(std::string_view format) {
    std::ostringstream out;
    const auto damage = exportRun(run, *formatOf(format), out);
    EXPECT_TRUE(damage) << damage.error().message;
    EXPECT_EQ(damage.value_or(std::vector<std::string>{}), std::vector<std::string>{});
    return out.str();
  }
  std::string dumped() const {
    const std::string command = std::string(MSLEAKS_PROGRAM) + " dump --json " + run.string();
    FILE *pipe = ::popen(command.c_str(), "r");
    std::string output;
    char buffer[4096];
    for (size_t count; (count = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
      output.append(buffer, count);
    EXPECT_EQ(::pclose(pipe), 0);
    return output;
  }
};

std::vector<Format> formatsOfOneFile() {
  std::vector<Format> list = formats();
  std::erase_if(list, [](const Format &format) { return format.is_folder; });
  return list;
}

// A stream that accepts `room` bytes and no more, like a disk that becomes full.
class FullAfter : public std::streambuf {
public:
  explicit FullAfter(std::streamsize room) : room_(room) {}

private:
  std::streamsize xsputn(const char *, std::streamsize size) override {
    const std::streamsize taken = std::min(size, room_);
    room_ -= taken;
    return taken;
  }
  int_type overflow(int_type character) override {
    return room_-- > 0 ? traits_type::not_eof(character) : traits_type::eof();
  }
  std::streamsize room_;
};

// An exporter that logs the calls of its functions.
class Witness : public EventExporter {
public:
  void begin(EventExport &) override { told.push_back("begin"); }
  void onEvent(EventExport &run, const StreamEvent &event, SiteId site) override {
    const Site &place = run.catalog.describe(site);
    told.push_back(std::string(abi::nameOf(event.event.header().kind)) + " " + std::to_string(place.line));
  }
  void end(EventExport &run) override {
    told.push_back("end");
    run.out << told.size();
  }
  std::vector<std::string> told;
};

} // namespace

TEST_F(Exporters, EachNameOnceInOrder) {
  std::vector<std::string> names;
  for (const Format &format : formats()) {
    names.emplace_back(format.name);
    EXPECT_FALSE(format.summary.empty()) << format.name;
    EXPECT_EQ(formatOf(format.name)->name, format.name);
  }
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  for (const char *name : {"json", "jsonl", "text"})
    EXPECT_EQ(std::count(names.begin(), names.end(), name), 1) << name;
}

TEST_F(Exporters, AnotherNameIsRefusedWithTheList) {
  const auto format = formatOf("xml");
  ASSERT_FALSE(format);
  EXPECT_EQ(format.error().status, ExitStatus::Usage);
  EXPECT_NE(format.error().message.find("'xml'"), std::string::npos);
  EXPECT_NE(format.error().message.find("json, jsonl, "), std::string::npos);
}

TEST_F(Exporters, JsonAndTextAreTheReport) {
  std::ostringstream json, table;
  writeReportJson(json, report());
  EXPECT_EQ(exported("json"), json.str());
  TableStyle style;
  style.columns = SIZE_MAX;
  writeReportTable(table, report(), style);
  EXPECT_EQ(exported("text"), table.str());
}

TEST_F(Exporters, JsonlIsTheDump) {
  const std::string lines = exported("jsonl");
  EXPECT_EQ(lines, dumped());
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 11);
  EXPECT_NE(lines.find(R"("label":"loss \"a\"\n","label_number":5})"), std::string::npos) << lines;
  EXPECT_NE(lines.find(R"("label":null,"label_number":6})"), std::string::npos) << lines;
}

TEST_F(Exporters, EventsComeInOrderWithTheirPlaces) {
  const auto trace = TraceReader::open(trace_file);
  ASSERT_TRUE(trace);
  Witness witness;
  std::ostringstream out;
  const EventChoice choice{abi::enabledBit(abi::EventKind::Alloc) | abi::enabledBit(abi::EventKind::Mark), kStart + 150,
                           kStart + 960};
  const auto given = exportEvents(*trace, witness, out, choice);
  ASSERT_TRUE(given) << given.error().message;
  EXPECT_EQ(*given, 9u) << "of any kind, in that time";
  EXPECT_EQ(witness.told, (std::vector<std::string>{"begin", "Alloc 3", "Alloc 0", "Alloc 12", "Alloc 12", "Alloc 0",
                                                    "Mark 0", "end"}));
  EXPECT_EQ(out.str(), "8");
}

TEST_F(Exporters, AnOutputThatFailsIsAnError) {
  for (const Format &format : formatsOfOneFile())
    for (const std::streamsize room : {0, 1}) {
      FullAfter full(room);
      std::ostream out(&full);
      const auto damage = exportRun(run, format, out);
      ASSERT_FALSE(damage) << format.name;
      EXPECT_EQ(damage.error().status, ExitStatus::OwnFault);
      EXPECT_EQ(damage.error().message, "the output could not be written");
    }
}

// exportRun() calls this function before it writes any output. `msleaks export` removes its progress line in this
// function.
TEST_F(Exporters, TellsWhenItWrites) {
  for (const Format &format : formatsOfOneFile()) {
    std::ostringstream out;
    size_t told = 0;
    ASSERT_TRUE(exportRun(run, format, out, {{}, [&] {
                                               ++told;
                                               EXPECT_EQ(out.str(), "") << format.name;
                                             }}));
    EXPECT_EQ(told, 1u) << format.name;
  }
}

TEST_F(Exporters, OnlyFormatsOfPathsHaveAChoiceOfBlocks) {
  for (const Format &format : formatsOfOneFile()) {
    const Exporter exporter = format.make();
    const auto *report = std::get_if<std::unique_ptr<ReportExporter>>(&exporter);
    const bool has_paths = report != nullptr && (*report)->choose(Blocks::Leaks);
    EXPECT_EQ(has_paths, kPathFormats.contains(format.name)) << format.name;
    std::ostringstream out;
    const auto damage = exportRun(run, format, out, {}, {}, Blocks::Leaks);
    EXPECT_EQ(damage.has_value(), has_paths) << format.name;
    if (!has_paths) {
      EXPECT_EQ(damage.error().status, ExitStatus::Usage);
      EXPECT_EQ(damage.error().message,
                std::string(format.name) +
                    " has no choice of blocks. --of needs a format of paths, for example folded");
      EXPECT_EQ(out.str(), "");
    }
  }
}

TEST_F(Exporters, LeaksHaveNoMoment) {
  std::ostringstream out;
  ReportQuestion question;
  question.at = *parseState("peak");
  EXPECT_TRUE(exportRun(run, *formatOf("folded"), out, {}, question, Blocks::Peak));
  for (const Blocks of : {Blocks::Leaks, Blocks::Allocated}) {
    const auto damage = exportRun(run, *formatOf("folded"), out, {}, question, of);
    ASSERT_FALSE(damage);
    EXPECT_EQ(damage.error().status, ExitStatus::Usage);
  }
}

TEST_F(Exporters, FormatsOfEventsHaveAWindow) {
  const auto linesOf = [&](const char *from, const char *to) {
    std::ostringstream out;
    ReportQuestion question;
    question.window = *parseWindow(from, to);
    const auto damage = exportRun(run, *formatOf("jsonl"), out, {}, question);
    EXPECT_TRUE(damage) << damage.error().message;
    const std::string text = out.str();
    return std::count(text.begin(), text.end(), '\n');
  };
  const auto all = linesOf("", "");
  EXPECT_EQ(all, 11);
  EXPECT_EQ(linesOf("950ns", ""), 2) << "the marks at 950 and 960 ns";
  EXPECT_EQ(linesOf("", "950ns"), all - 2) << "an event at the time itself is after it";
  EXPECT_EQ(linesOf("mark:loss \"a\"\n", ""), 2);
  EXPECT_EQ(linesOf("", "mark:loss \"a\"\n"), all - 2);
  EXPECT_EQ(linesOf("150ns", "mark:loss \"a\"\n"), linesOf("150ns", "950ns"));
}

TEST_F(Exporters, AWindowThatNeverBeginsIsRefused) {
  for (const auto &[from, to] : {std::pair{"step:7", ""}, std::pair{"", "step:7"}, std::pair{"step:7", "step:8"}}) {
    std::ostringstream out;
    ReportQuestion question;
    question.window = *parseWindow(from, to);
    const auto damage = exportRun(run, *formatOf("jsonl"), out, {}, question);
    ASSERT_FALSE(damage);
    EXPECT_EQ(damage.error().status, ExitStatus::Usage);
    EXPECT_NE(damage.error().message.find("no such step or mark"), std::string::npos) << damage.error().message;
  }
}

TEST_F(Exporters, OnlyFormatsOfEventsHaveAWindow) {
  for (const Format &format : formatsOfOneFile()) {
    const Exporter exporter = format.make();
    std::ostringstream out;
    ReportQuestion question;
    question.window = *parseWindow("1ns", "2ms");
    const auto damage = exportRun(run, format, out, {}, question);
    EXPECT_EQ(damage.has_value(), std::holds_alternative<std::unique_ptr<EventExporter>>(exporter)) << format.name;
    if (!damage) {
      EXPECT_EQ(damage.error().status, ExitStatus::Usage);
      EXPECT_EQ(damage.error().message,
                std::string(format.name) +
                    " is about the whole run. --from and --to need a format of events, for example jsonl");
    }
  }
}

TEST_F(Exporters, OnlyFormatsWithLeaksHaveSuppressions) {
  const std::set<std::string_view> with_leaks{"json", "sarif", "series", "text"};
  ReportQuestion question;
  question.suppressions = *parseSuppressions("leak:net.c", "rules");
  for (const Format &format : formatsOfOneFile())
    for (const auto of : {std::optional<Blocks>(), std::optional(Blocks::Leaks)}) {
      const bool has_paths = kPathFormats.contains(format.name);
      if (of && !has_paths)
        continue;
      std::ostringstream out;
      const auto damage = exportRun(run, format, out, {}, question, of);
      EXPECT_EQ(damage.has_value(), has_paths ? of.has_value() : with_leaks.contains(format.name)) << format.name;
      if (!damage) {
        EXPECT_EQ(damage.error().status, ExitStatus::Usage);
        EXPECT_EQ(damage.error().message.find(std::string(format.name) + " has neither leaks nor findings here."), 0u);
      }
    }
}

TEST_F(Exporters, SuppressedLeaksAreNoLeaks) {
  const auto leaksOf = [&](const char *rules) {
    std::ostringstream out;
    ReportQuestion question;
    question.suppressions = *parseSuppressions(rules, "rules");
    EXPECT_TRUE(exportRun(run, *formatOf("folded"), out, {}, question, Blocks::Leaks));
    return out.str();
  };
  EXPECT_NE(leaksOf(""), leaksOf("leak:*"));
  EXPECT_EQ(leaksOf("leak:*"), "(unknown place) 1\n") << "no rule matches an unknown place";
}

// A block that was freed before the peak counts, too.
TEST_F(Exporters, AllocatedBlocksAreAllBlocks) {
  std::ostringstream out;
  ASSERT_TRUE(exportRun(run, *formatOf("folded"), out, {}, {}, Blocks::Allocated));
  uint64_t bytes = 0;
  std::istringstream lines(out.str());
  for (std::string line; std::getline(lines, line);)
    bytes += std::stoull(line.substr(line.rfind(' ') + 1));
  EXPECT_EQ(bytes, 1000 + 5000 + 70 + 4096 + 30 + 1) << out.str();
  std::ostringstream profile;
  ASSERT_TRUE(exportRun(run, *formatOf("otlp"), profile, {}, {}, Blocks::Allocated));
  EXPECT_NE(profile.str().find("alloc_space"), std::string::npos);
  EXPECT_EQ(profile.str().find("inuse"), std::string::npos);
}

TEST(ExportedBlocks, AreNamed) {
  EXPECT_EQ(*parseBlocks("peak"), Blocks::Peak);
  EXPECT_EQ(*parseBlocks("leaks"), Blocks::Leaks);
  EXPECT_EQ(*parseBlocks("allocated"), Blocks::Allocated);
  for (const char *name : {"", "Peak", "leaks ", "allocated,peak"}) {
    const auto blocks = parseBlocks(name);
    ASSERT_FALSE(blocks) << name;
    EXPECT_EQ(blocks.error().status, ExitStatus::Usage);
    EXPECT_NE(blocks.error().message.find("--of takes peak, leaks or allocated"), std::string::npos)
        << blocks.error().message;
  }
}

// A report in JSON lists the damage itself.
TEST_F(Exporters, DamageIsTold) {
  std::filesystem::resize_file(trace_file, std::filesystem::file_size(trace_file) - 1);
  for (const auto &[name, is_told] : {std::pair{"jsonl", true}, std::pair{"folded", true}, std::pair{"json", false}}) {
    std::ostringstream out;
    const auto damage = exportRun(run, *formatOf(name), out);
    ASSERT_TRUE(damage) << damage.error().message;
    EXPECT_EQ(!damage->empty(), is_told) << name;
    for (const std::string &what : *damage)
      EXPECT_EQ(what.rfind("'" + trace_file.string() + "': ", 0), 0u) << what;
  }
}

TEST_F(Exporters, NoRunIsOneLine) {
  for (const Format &format : formatsOfOneFile()) {
    std::ostringstream out;
    const auto damage = exportRun(base / "missing", format, out);
    ASSERT_FALSE(damage) << format.name;
    EXPECT_EQ(damage.error().status, ExitStatus::BadInput);
    EXPECT_EQ(damage.error().message.find('\n'), std::string::npos);
    EXPECT_EQ(out.str(), "");
  }
}

} // namespace msleaks::analysis
