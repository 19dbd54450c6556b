// Tests the report of a run in which an allocation was refused.
#include "analysis/report/out_of_memory.h"
#include "analysis/text/out_of_memory_forms.h"

#include "report_fixture.h"

namespace msleaks::analysis {
namespace {

class OutOfMemoryTest : public ReportTest {
protected:
  void finish(const std::vector<StreamEvent> &list, int status) {
    start(1, 4711);
    events(list);
    end(1, status, kStart + 10'000);
    manifest();
    close();
  }
  OutOfMemory analyze(size_t most = 10) {
    auto found = analyzeOutOfMemory(run, most);
    EXPECT_TRUE(found) << found.error().message;
    return found ? std::move(*found) : OutOfMemory{};
  }
  json asked(size_t most = 10) {
    std::ostringstream out;
    writeOutOfMemoryJson(out, analyze(most));
    return json::parse(out.str());
  }
  std::string text(size_t most = 10) {
    std::ostringstream out;
    writeOutOfMemoryText(out, analyze(most), {.columns = 120, .top = most});
    return out.str();
  }
  json finding() {
    const json report = asJson();
    for (const json &finding : report["findings"])
      if (finding["kind"] == "out-of-memory")
        return finding;
    return {};
  }
};

constexpr int kAborted = 6;

// Returns a run in which an allocation of a gigabyte is refused while three blocks are alive. A fourth block is
// allocated later, and must not count.
std::vector<StreamEvent> refusedRun() {
  return {test::alloc(kStart + 100, 0x1000, 300'000, kOne), test::alloc(kStart + 200, 0x90000, 100'000, kTwo),
          test::alloc(kStart + 300, 0xb0000, 70, kOne),     test::free(kStart + 400, 0xb0000, kOne),
          test::alloc(kStart + 500, 0xb0000, 50, kOne),     test::allocFailed(kStart + 600, 1 << 30, kTwo),
          test::alloc(kStart + 700, 0xc0000, 900'000, kOne)};
}

} // namespace

TEST_F(OutOfMemoryTest, SaysWhatWasAliveThen) {
  finish(refusedRun(), kAborted);
  const json found = asked();
  const json &refused = found["refused"];
  EXPECT_EQ(refused["bytes"], 1 << 30);
  EXPECT_EQ(refused["status"], 12);
  EXPECT_EQ(refused["heap"], "host");
  EXPECT_EQ(refused["since_start_ns"], 600);
  EXPECT_EQ(refused["pid"], 4711);
  EXPECT_EQ(refused["tid"], 100);
  EXPECT_EQ(refused["place"]["site"]["line"], 3);
  EXPECT_EQ(found["refusals"], json::parse(R"({"count":1,"answered":0})"));
  EXPECT_EQ(found["alive"]["bytes"], 400'050);
  EXPECT_EQ(found["alive"]["by_site"][0]["bytes"], 300'050);
  ASSERT_EQ(found["largest"].size(), 3u);
  EXPECT_EQ(found["largest"][0]["bytes"], 300'000);
  EXPECT_EQ(found["largest"][2]["bytes"], 50);
  EXPECT_EQ(found["oldest"][0]["age_ns"], 501) << "up to the moment behind the refusal";
  EXPECT_EQ(found["oldest"][2]["bytes"], 50);
  EXPECT_TRUE(found["hole"]["bytes"].is_null());
  EXPECT_NE(std::string(found["hole"]["unknown"]).find("not recorded"), std::string::npos);
  ASSERT_FALSE(found["findings"].empty()) << found;
  EXPECT_EQ(found["findings"][0]["site"]["line"], 12) << "what to try first";
  EXPECT_EQ(found["findings"][0]["saves_bytes"], 300'070) << "the peak until then was before";
  EXPECT_EQ(asked(1)["largest"].size(), 1u);
}

TEST_F(OutOfMemoryTest, IsAPage) {
  finish(refusedRun(), kAborted);
  const std::string page = text();
  for (const char *part : {"refused 1.00 GiB of host (Cannot allocate memory), 600 ns after the start",
                           "at      src/net.cpp:3:7", "by      thread 100 of process 4711, killed by signal 6",
                           "hole    not known: ", "alive   390.7 KiB in 3 blocks then", "Alive, by place",
                           "Alive, the largest", "Alive, the oldest", "Findings"})
    EXPECT_NE(page.find(part), std::string::npos) << part << " is missing in\n" << page;
}

TEST_F(OutOfMemoryTest, IsTheFirstFinding) {
  finish(refusedRun(), kAborted);
  const json first = asJson()["findings"][0];
  EXPECT_EQ(first["kind"], "out-of-memory");
  EXPECT_EQ(first["confidence"], "likely") << "the process did not survive it";
  EXPECT_EQ(first["bytes"], 1 << 30);
  EXPECT_EQ(first["count"], 1);
  EXPECT_EQ(first["saves_bytes"], 0);
  EXPECT_EQ(first["site"]["line"], 3);
  EXPECT_EQ(first["evidence"]["alive_bytes"], 400'050);
  EXPECT_EQ(first["evidence"]["status"], 12);
  EXPECT_NE(asTable(120).find("out-of-memory: 1.00 GiB were refused when 390.7 KiB of host were alive (likely)"),
            std::string::npos)
      << asTable(120);
}

TEST_F(OutOfMemoryTest, OfAProgramThatGoesOnIsAHint) {
  finish(refusedRun(), 0);
  EXPECT_EQ(finding()["confidence"], "hint");
}

// Immediately after each refusal, the site requests less memory. So the refusals are no finding.
TEST_F(OutOfMemoryTest, IsNoneWhenAskedAgainForLess) {
  finish({test::alloc(kStart + 100, 0x1000, 300'000, kOne), test::allocFailed(kStart + 600, 1 << 30, kTwo),
          test::allocFailed(kStart + 601, 1 << 29, kTwo), test::alloc(kStart + 602, 0xc0000, 1 << 28, kTwo)},
         0);
  EXPECT_TRUE(finding().is_null());
  const json found = asked();
  EXPECT_TRUE(found["refused"].is_null());
  EXPECT_EQ(found["refusals"], json::parse(R"({"count":2,"answered":2})"));
  EXPECT_NE(text().find("refused 2 times, each followed by a smaller request that succeeded"), std::string::npos)
      << text();
  const json report = asJson();
  for (const json &section : report["sections"])
    if (section["name"] == "refused") {
      EXPECT_EQ(section["rows"][0][1], 2);
      EXPECT_EQ(section["rows"][0][2], 1 << 30);
      EXPECT_EQ(section["rows"][0][3], 2);
    }
}

TEST_F(OutOfMemoryTest, WithoutARefusalShowsTheEndOfAKilledProcess) {
  finish({test::alloc(kStart + 100, 0x1000, 300'000, kOne), test::alloc(kStart + 200, 0x90000, 100'000, kTwo)}, 9);
  const json found = asked();
  EXPECT_TRUE(found["refused"].is_null());
  EXPECT_TRUE(found["hole"].is_null());
  EXPECT_EQ(found["alive"]["bytes"], 400'000);
  EXPECT_EQ(found["largest"][0]["bytes"], 300'000);
  EXPECT_NE(text().find("refused nothing: no allocator refused memory"), std::string::npos) << text();
  EXPECT_NE(text().find("ended   process 4711, killed by signal 9; the kernel also does this"), std::string::npos)
      << text();
}

TEST_F(OutOfMemoryTest, OfAProcessThatEndedInOrderHasNothingAlive) {
  finish({test::alloc(kStart + 100, 0x1000, 300'000, kOne)}, 0);
  const json found = asked();
  EXPECT_TRUE(found["refused"].is_null());
  EXPECT_EQ(found["alive"]["bytes"], 0);
  EXPECT_EQ(found["largest"], json::array());
}

// A pool of 1,000 bytes has parts at 0, 300 and 900. Its largest hole follows the second part.
TEST_F(OutOfMemoryTest, KnowsTheHolesOfAPool) {
  constexpr Where kPool{.heap = abi::Heap::Pool, .site = 2};
  finish({test::alloc(kStart + 90, 0x20000, 5000, kOne), test::alloc(kStart + 95, 0xf000, 16, kOne),
          test::alloc(kStart + 100, 0x10000, 1000, kOne), test::alloc(kStart + 200, 0x10000, 100, kPool),
          test::alloc(kStart + 210, 0x10000 + 300, 200, kPool), test::alloc(kStart + 220, 0x10000 + 900, 100, kPool),
          test::allocFailed(kStart + 600, 500, kPool)},
         kAborted);
  const json found = asked();
  EXPECT_EQ(found["refused"]["heap"], "pool");
  EXPECT_EQ(found["hole"]["bytes"], 400);
  EXPECT_TRUE(found["hole"]["unknown"].is_null());
  EXPECT_NE(text().find("hole    the largest is 400 B"), std::string::npos) << text();
}

TEST_F(OutOfMemoryTest, IsOfTheProcessThatDiedOfIt) {
  start(1, 4711);
  start(2, 4712);
  constexpr Where kSecond{.process = 2, .site = 1};
  events({test::alloc(kStart + 100, 0x1000, 300'000, kOne), test::alloc(kStart + 110, 0x1000, 40'000, kSecond),
          test::allocFailed(kStart + 600, 1 << 20, kSecond), test::allocFailed(kStart + 700, 1 << 30, kOne)});
  end(1, 0, kStart + 10'000);
  end(2, kAborted, kStart + 10'000);
  manifest();
  close();
  const json found = asked();
  EXPECT_EQ(found["refused"]["pid"], 4712) << "although the other one was refused later";
  EXPECT_EQ(found["refused"]["bytes"], 1 << 20);
  EXPECT_EQ(found["alive"]["bytes"], 40'000);
}

// All processes share the memory of a device. So the report shows the blocks of all processes.
TEST_F(OutOfMemoryTest, OfADeviceShowsAllProcesses) {
  start(1, 4711);
  start(2, 4712);
  constexpr Where kFirst{.heap = abi::Heap::Device, .site = 1},
      kSecond{.process = 2, .heap = abi::Heap::Device, .site = 1};
  events({test::alloc(kStart + 100, 0x1000, 300'000, kFirst), test::alloc(kStart + 110, 0x1000, 40'000, kSecond),
          test::allocFailed(kStart + 600, 1 << 20, kSecond)});
  end(1, 0, kStart + 10'000);
  end(2, kAborted, kStart + 10'000);
  manifest();
  close();
  EXPECT_EQ(asked()["alive"]["bytes"], 340'000);
}

TEST_F(OutOfMemoryTest, OfNoRunIsBadInput) {
  const auto found = analyzeOutOfMemory(base / "missing", 10);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().status, ExitStatus::BadInput);
}

} // namespace msleaks::analysis
