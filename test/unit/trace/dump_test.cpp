// Tests `msleaks dump`, run as a user runs it.
#include "random_events.h"

#include "msleaks/abi/definitions.h"
#include "msleaks/abi/site_table.h"

#include <cstdio>
#include <fstream>
#include <sstream>
#include <sys/wait.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace msleaks::analysis::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

struct Outcome {
  int status;
  std::string output, errors;
  std::vector<nlohmann::json> lines() const {
    std::vector<nlohmann::json> parsed;
    std::istringstream text(output);
    for (std::string line; std::getline(text, line);)
      parsed.push_back(nlohmann::json::parse(line));
    return parsed;
  }
};

class Dump : public testing::Test {
protected:
  // Writes an Alloc, a Launch and a Free of two threads of a process, and a Free of a process without a start.
  void SetUp() override {
    fs::create_directory(folder_ / "run");
    auto writer = TraceWriter::create(trace_);
    ASSERT_TRUE(writer && writer->processStart({1, 4711, 1, 1'000'000'000, 0, {"p"}}));
    const auto at = [](abi::EventKind kind, uint64_t ms) {
      return abi::EventHeader{
          kind, abi::Heap::Device, 3, abi::kFromHook | abi::kAsync, 17, 1'000'000'000 + ms * 1'000'000};
    };
    std::vector<abi::Slot> slots(3);
    slots[0] = {at(abi::EventKind::Alloc, 1), {UINT64_MAX, 64}};
    const abi::LaunchEvent launch{
        at(abi::EventKind::Launch, 3), 0xabc, 0xdef, abi::kContinuationTag, 1, 2, 3, 4, 5, 6, 7, 0};
    std::memcpy(&slots[1], &launch, sizeof launch);
    ASSERT_TRUE(writer->events({1, 0, 0, slots}));
    const abi::Slot free{at(abi::EventKind::Free, 2), {0x1000, 0}};
    ASSERT_TRUE(writer->events({1, 1, 0, {&free, 1}}));
    ASSERT_TRUE(writer->events({2, 0, 0, {&free, 1}}));
    ASSERT_TRUE(writer->streamAccount({1, 0, 4711, "main", 2, 0, 0}));
    ASSERT_TRUE(writer->streamAccount({1, 1, 4712, "worker", 1, 0, 0}));
    ASSERT_TRUE(writer->close());
  }

  Outcome dump(const std::string &arguments) const {
    const std::string errors = folder_ / "errors";
    const std::string command = std::string(MSLEAKS_PROGRAM) + " dump " + arguments + " 2>" + errors;
    FILE *pipe = ::popen(command.c_str(), "r");
    Outcome outcome;
    char buffer[4096];
    for (size_t count; (count = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
      outcome.output.append(buffer, count);
    outcome.status = WEXITSTATUS(::pclose(pipe));
    outcome.errors = contentOf(errors);
    return outcome;
  }
  Outcome dumpRun(const std::string &arguments) const { return dump((folder_ / "run").string() + " " + arguments); }

  ScratchFolder folder_;
  fs::path trace_ = folder_ / "run" / "trace.mslt";
};

TEST_F(Dump, JsonNamesEverything) {
  const Outcome outcome = dumpRun("--json");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.errors, IsEmpty());
  const auto lines = outcome.lines();
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0],
            nlohmann::json::parse(R"({"time_ns": 1001000000, "pid": 4711, "tid": 4711, "process": 1, "stream": 0,
    "event": "Alloc", "heap": "device", "device": 3, "site": null, "site_number": 17, "flags": ["hook", "async"],
    "address": 18446744073709551615, "size": 64})"));
  EXPECT_EQ(lines[1]["event"], "Free");
  EXPECT_EQ(lines[1]["tid"], 4712);
  EXPECT_EQ(lines[2]["pid"], nullptr);
  EXPECT_EQ(lines[2]["process"], 2);
  EXPECT_EQ(lines[3]["event"], "Launch");
  EXPECT_EQ(lines[3]["grid_z"], 3);
  EXPECT_EQ(lines[3]["block_z"], 7);
  EXPECT_FALSE(lines[3].contains("reserved"));
}

TEST_F(Dump, TableIsOneLineAnEvent) {
  const Outcome outcome = dumpRun("");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(std::count(outcome.output.begin(), outcome.output.end(), '\n'), 5); // four events and a head line
  EXPECT_THAT(outcome.output, HasSubstr("0.001000000    4711    4711 Alloc       device          17 "
                                        "address=0xffffffffffffffff size=64 hook async\n"));
}

// The dump shows labels as the texts that the process defined. An undefined label is null.
TEST_F(Dump, LabelsAreTexts) {
  const std::string text = "loss \"a\"\n";
  std::string body(sizeof(abi::StringDefinition), '\0');
  const abi::StringDefinition number{5, 0};
  std::memcpy(body.data(), &number, sizeof number);
  body += text;
  const auto *bytes = reinterpret_cast<const unsigned char *>(body.data());
  const abi::DefinitionHeader header{abi::kDefinitionMagic, abi::DefinitionKind::String,
                                     static_cast<uint32_t>(body.size()), abi::fnv1a32(bytes, body.size())};
  std::string record(reinterpret_cast<const char *>(&header), sizeof header);
  record += body;
  record.resize((record.size() + 7) / 8 * 8);
  {
    auto writer = TraceWriter::append(trace_);
    ASSERT_TRUE(writer && writer->definitions(1, std::as_bytes(std::span(record))));
    const abi::EventHeader at{abi::EventKind::Mark, abi::Heap::Host, 0, 0, 0, 2'000'000'000};
    const abi::Slot marks[] = {{at, {5, 0}}, {at, {6, 0}}};
    ASSERT_TRUE(writer->events({1, 7, 0, marks}));
  }
  const auto lines = dumpRun("--json --kind mark").lines();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["label"], text);
  EXPECT_EQ(lines[0]["label_number"], 5);
  EXPECT_EQ(lines[1]["label"], nullptr);
  EXPECT_EQ(lines[1]["label_number"], 6);
  EXPECT_THAT(dumpRun("--kind mark").output, HasSubstr("label=\"loss \\\"a\\\"\\n\" label_number=5\n"));
}

TEST_F(Dump, Filters) {
  EXPECT_EQ(dumpRun("--json --kind alloc,Launch").lines().size(), 2u);
  EXPECT_EQ(dumpRun("--json --begin 0.002").lines().size(), 3u);
  EXPECT_EQ(dumpRun("--json --begin 0.002 --end 0.003").lines().size(), 2u);
  EXPECT_EQ(dumpRun("--json --end 1e30").lines().size(), 4u);
  const Outcome wrong = dumpRun("--kind Nothing");
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.errors, HasSubstr("Nothing"));
}

TEST_F(Dump, TakesTheTraceItself) { EXPECT_EQ(dump("--json " + trace_.string()).lines().size(), 4u); }

TEST_F(Dump, WarnsOfDamageAndGoesOn) {
  const std::string content = contentOf(trace_);
  fs::resize_file(trace_, content.size() - 1);
  const Outcome outcome = dumpRun("--json");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.lines().size(), 4u);
  EXPECT_THAT(outcome.errors, HasSubstr("msleaks: warning: "));
}

TEST_F(Dump, NothingReadableIsBadInput) {
  for (const std::string &content : {std::string(), std::string("not a trace at all, but a text of some length"),
                                     contentOf(trace_).substr(0, 100)}) {
    std::ofstream(trace_, std::ios::binary | std::ios::trunc) << content;
    const Outcome outcome = dumpRun("--json");
    EXPECT_EQ(outcome.status, 3) << content.size();
    EXPECT_THAT(outcome.output, IsEmpty());
    EXPECT_THAT(outcome.errors, HasSubstr("msleaks: "));
  }
  EXPECT_EQ(dump("/nowhere").status, 3);
  EXPECT_EQ(dump("").status, 2);
}

TEST_F(Dump, EndsQuietlyWithItsReader) {
  {
    auto writer = TraceWriter::append(trace_);
    std::mt19937_64 random(1);
    ASSERT_TRUE(writer && writer->events({1, 7, 0, randomSlots(16'000, 2'000'000'000, random)}));
  }
  const Outcome outcome = dumpRun("--json | head -1");
  EXPECT_EQ(outcome.lines().size(), 1u);
  EXPECT_THAT(outcome.errors, IsEmpty());
}

} // namespace
} // namespace msleaks::analysis::test
