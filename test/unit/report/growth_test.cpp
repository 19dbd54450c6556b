// Tests the findings about memory that grows, because each step of a program leaves blocks allocated.
#include "report_fixture.h"

namespace msleaks::analysis {
namespace {

constexpr uint64_t kStepNs = 1'000'000, kStepBytes = 100'000;

class Growth : public ReportTest {
protected:
  StreamEvent step(uint64_t number) { return test::make<abi::StepEvent>(at(number), {}, number, 0); }
  // Returns the allocation of a block, `behind_ns` after the beginning of step `number`. The block's address is
  // `address` times 16.
  StreamEvent born(uint64_t number, uint64_t behind_ns, uint64_t address, uint64_t size, const Where &where = kOne) {
    return test::alloc(at(number) + behind_ns, address << 4, size, where);
  }
  StreamEvent dies(uint64_t number, uint64_t behind_ns, uint64_t address, const Where &where = kOne) {
    return test::free(at(number) + behind_ns, address << 4, where);
  }
  void run(const std::vector<StreamEvent> &list, int status = 0) {
    start(1, 4711);
    events(list);
    end(1, status, at(1000));
    manifest();
    close();
    found = asJson()["findings"];
  }
  // In each step, a thread of a closed library allocates a block that the program keeps. No call is in the user's code.
  void runLibrary(uint64_t step_bytes) {
    start(1, 4711);
    abi::ImageDefinition closed{};
    closed.image = 3;
    const std::string image = record(abi::DefinitionKind::Image, raw(closed) + "/usr/lib/libclosed.so.1");
    ASSERT_TRUE(writer->definitions(1, std::as_bytes(std::span(image))));
    const TraceWriter::CallerEntry callers[] = {{1, 3, 0x9010}};
    ASSERT_TRUE(writer->callers(1, callers));
    const Where library{.flags = abi::kFromHook, .site = abi::kCallerSite | 1};
    std::vector<StreamEvent> list{born(0, 0, 1000, 3 * kStepBytes, kTwo)};
    for (uint64_t number = 1; number <= 10; ++number) {
      list.push_back(step(number));
      list.push_back(born(number, 10, number, step_bytes, library));
    }
    list.push_back(dies(11, 0, 1000, kTwo));
    events(list);
    end(1, 0, at(1000));
    manifest();
    close();
    found = asJson()["findings"];
  }
  json of(const std::string &kind) const {
    for (const json &finding : found)
      if (finding["kind"] == kind)
        return finding;
    return {};
  }
  static uint64_t at(uint64_t number) { return kStart + number * kStepNs; }
  json found;
};

} // namespace

TEST_F(Growth, ALeakSaysHowMuchEachStepAdds) {
  std::vector<StreamEvent> list{born(0, 0, 1000, 7 * kStepBytes, kTwo)};
  for (uint64_t number = 1; number <= 10; ++number) {
    list.push_back(step(number));
    list.push_back(born(number, 10, number, kStepBytes));
    list.push_back(born(number, 20, 500, kStepBytes, kTwo));
    list.push_back(dies(number, 30, 500, kTwo));
  }
  run(list);
  EXPECT_TRUE(of("growth").is_null()) << "it is the leak";
  const json leak = found[0]["site"]["line"] == 12 ? found[0] : found[1];
  EXPECT_EQ(leak["kind"], "leak");
  EXPECT_EQ(leak["bytes"], 10 * kStepBytes);
  EXPECT_EQ(leak["evidence"]["growth_bytes_per_step"], kStepBytes);
  EXPECT_EQ(leak["evidence"]["first_step"], 2);
  EXPECT_EQ(leak["evidence"]["steps"], 7) << "steps 2 to 8: what step 9 made may still be used in step 10";
  const json other = found[0]["site"]["line"] == 12 ? found[1] : found[0];
  EXPECT_EQ(other["bytes"], 7 * kStepBytes);
  EXPECT_FALSE(other["evidence"].contains("growth_bytes_per_step"));
}

TEST_F(Growth, IsFoundInAProgramThatNeverEnds) {
  std::vector<StreamEvent> list;
  for (uint64_t number = 1; number <= 8; ++number) {
    list.push_back(step(number));
    list.push_back(born(number, 10, number, kStepBytes));
  }
  run(list, 9); // the process was killed, so its live blocks are no leaks
  ASSERT_EQ(found.size(), 1u) << found;
  const json &growth = found[0];
  EXPECT_EQ(growth["kind"], "growth");
  EXPECT_EQ(growth["confidence"], "likely");
  EXPECT_EQ(growth["bytes"], 5 * kStepBytes);
  EXPECT_EQ(growth["count"], 5);
  EXPECT_EQ(growth["saves_bytes"], 5 * kStepBytes);
  EXPECT_EQ(growth["site"]["line"], 12);
  EXPECT_EQ(growth["evidence"]["growth_bytes_per_step"], kStepBytes);
  EXPECT_FALSE(growth["retracted"]);
  EXPECT_NE(asTable(120).find("growth: 5 blocks of `float` (488.3 KiB) stay behind, 97.7 KiB a step (likely)"),
            std::string::npos)
      << asTable(120);
}

TEST_F(Growth, ThatIsFreedBehindTheLastStepIsAHint) {
  std::vector<StreamEvent> list;
  for (uint64_t number = 1; number <= 8; ++number) {
    list.push_back(step(number));
    list.push_back(born(number, 10, number, kStepBytes));
  }
  for (uint64_t number = 1; number <= 8; ++number)
    list.push_back(dies(8, 100 + number, number));
  run(list);
  const json growth = of("growth");
  ASSERT_FALSE(growth.is_null()) << found;
  EXPECT_EQ(growth["confidence"], "hint");
  EXPECT_EQ(growth["bytes"], 5 * kStepBytes);
  EXPECT_EQ(growth["saves_bytes"], 5 * kStepBytes);
  EXPECT_EQ(growth["evidence"]["freed_behind_last_step_bytes"], 5 * kStepBytes);
}

// Each of the first six steps leaves ten times as much memory allocated as a later step.
TEST_F(Growth, MayBeAskedForFromALaterStepOnAndFromSoMuchOn) {
  std::vector<StreamEvent> list;
  for (uint64_t number = 1; number <= 12; ++number) {
    list.push_back(step(number));
    list.push_back(born(number, 10, number, number <= 6 ? 10 * kStepBytes : kStepBytes));
  }
  run(list, 9);
  const auto growths = [this](uint64_t skip_steps, uint64_t least_growth_bytes) {
    ReportQuestion question;
    question.skip_steps = skip_steps;
    question.least_growth_bytes = least_growth_bytes;
    auto report = analyzeRun(ReportTest::run, question);
    std::erase_if(report->findings, [](const Finding &finding) { return finding.kind != "growth"; });
    return std::move(report->findings);
  };
  EXPECT_EQ(growths(1, 0).at(0).bytes, 5 * 10 * kStepBytes + 4 * kStepBytes) << "steps 2 to 10";
  EXPECT_EQ(growths(6, 0).at(0).bytes, 4 * kStepBytes) << "steps 7 to 10";
  EXPECT_EQ(growths(6, kStepBytes).size(), 1u);
  EXPECT_TRUE(growths(6, kStepBytes + 1).empty());
  EXPECT_TRUE(growths(9, 0).empty()) << "too few steps are left";
}

// The prefetched blocks are freed three steps later, and the cache is full after five steps. So memory does not grow.
TEST_F(Growth, IsNotWhatIsKeptForAWhileOrKeptOnce) {
  std::vector<StreamEvent> list;
  for (uint64_t number = 1; number <= 40; ++number) {
    list.push_back(step(number));
    list.push_back(born(number, 10, number, kStepBytes));
    if (number > 3)
      list.push_back(dies(number, 20, number - 3));
    if (number < 6)
      list.push_back(born(number, 30, 100 + number, kStepBytes, kTwo));
  }
  run(list, 9);
  EXPECT_TRUE(of("growth").is_null()) << found;
}

TEST_F(Growth, MayBeginLateAndMissSteps) {
  std::vector<StreamEvent> list;
  for (uint64_t number = 1; number <= 60; ++number) {
    list.push_back(step(number));
    if (number >= 40 && number % 5 != 0)
      list.push_back(born(number, 10, number, kStepBytes));
  }
  run(list, 9);
  const json growth = of("growth");
  ASSERT_FALSE(growth.is_null()) << found;
  EXPECT_EQ(growth["evidence"]["first_step"], 41);
  EXPECT_EQ(growth["bytes"], 15 * kStepBytes) << "41 to 58 without 45, 50 and 55";
}

// Each round frees a large batch, and leaves a small block allocated. The program does not report its rounds, so the
// analysis must find them.
TEST_F(Growth, WithoutStepsCountsTheRoundsThatRepeat) {
  std::vector<StreamEvent> list;
  for (uint64_t number = 1; number <= 60; ++number) {
    list.push_back(born(number, 10, 5000, 9 * kStepBytes, kTwo));
    list.push_back(born(number, 20, number, kStepBytes));
    list.push_back(dies(number, 30, 5000, kTwo));
  }
  run(list, 9);
  const json growth = of("growth");
  ASSERT_FALSE(growth.is_null()) << found;
  EXPECT_EQ(growth["confidence"], "hint") << "the program did not say so";
  EXPECT_EQ(growth["site"]["line"], 12);
  const json &evidence = growth["evidence"];
  EXPECT_EQ(evidence["growth_bytes_per_step"], kStepBytes);
  EXPECT_EQ(evidence["period_found"], "src/net.cpp:3");
  EXPECT_EQ(evidence["period_ns"], kStepNs);
  EXPECT_GE(evidence["steps"], 45);
}

// If a program reports steps, growth is measured by these steps, although shorter rounds repeat.
TEST_F(Growth, OfStepsThatAreSaidHasNoFoundPeriod) {
  std::vector<StreamEvent> list;
  for (uint64_t number = 1; number <= 60; ++number) {
    if (number > 20 && number % 5 == 0)
      list.push_back(step(number));
    list.push_back(born(number, 10, 5000, 9 * kStepBytes, kTwo));
    list.push_back(born(number, 20, number, kStepBytes));
    list.push_back(dies(number, 30, 5000, kTwo));
  }
  run(list, 9);
  const json growth = of("growth");
  ASSERT_FALSE(growth.is_null()) << found;
  EXPECT_EQ(growth["confidence"], "likely");
  EXPECT_EQ(growth["evidence"]["growth_bytes_per_step"], 5 * kStepBytes);
  EXPECT_FALSE(growth["evidence"].contains("period_found"));
}

// Most of the peak consists of the growing blocks. So the peak has no finding of its own.
TEST_F(Growth, OfALibrarysOwnThreadsIsAFinding) {
  runLibrary(kStepBytes);
  const json growth = of("growth");
  ASSERT_FALSE(growth.is_null()) << found;
  EXPECT_EQ(growth["closed_library"], "/usr/lib/libclosed.so.1");
  EXPECT_EQ(growth["confidence"], "hint");
  EXPECT_EQ(growth["bytes"], 7 * kStepBytes);
  EXPECT_EQ(growth["evidence"]["growth_bytes_per_step"], kStepBytes);
  EXPECT_NE(growth["advice"].get<std::string>().find("`libclosed.so.1` has a cache that grows"), std::string::npos);
  EXPECT_EQ(found[0]["kind"], "growth") << "it comes before what saves less";
}

TEST_F(Growth, OfALibrarysOwnThreadsMustBeATwentiethOfThePeak) {
  runLibrary(kStepBytes / 100);
  EXPECT_TRUE(of("growth").is_null()) << found;
}

TEST_F(Growth, TakesThePlaceOfAPeak) {
  std::vector<StreamEvent> list;
  for (uint64_t number = 1; number <= 60; ++number) {
    list.push_back(born(number, 10, 5000, 9 * kStepBytes, kTwo));
    list.push_back(born(number, 20, number, kStepBytes));
    list.push_back(dies(number, 30, 5000, kTwo));
  }
  for (uint64_t number = 1; number <= 60; ++number)
    list.push_back(dies(60, 100 + number, number));
  run(list);
  ASSERT_FALSE(of("growth").is_null()) << found;
  for (const json &finding : found)
    EXPECT_FALSE(finding["kind"] == "peak" && finding["site"]["line"] == 12) << found;
}

// The program reads a document. For each part, it allocates a large buffer, and shrinks it. At the end, it frees all
// buffers. So there is no growth.
TEST_F(Growth, OfADocumentIsNone) {
  std::vector<StreamEvent> list;
  const Where shrinks{.flags = abi::kRealloc, .site = 1}, node{.site = 2};
  for (uint64_t number = 1; number <= 60; ++number) {
    list.push_back(born(number, 10, number, kStepBytes));
    list.push_back(born(number, 20, 100 + number, kStepBytes / 10, node));
    list.push_back(dies(number, 30, number, shrinks));
    list.push_back(born(number, 31, number, kStepBytes / 5, shrinks));
  }
  for (uint64_t number = 1; number <= 60; ++number) {
    list.push_back(dies(60, 100 + number, number));
    list.push_back(dies(60, 200 + number, 100 + number, node));
  }
  run(list);
  EXPECT_TRUE(of("growth").is_null()) << found;
}

TEST_F(Growth, OfWhoOnlyCollectsIsNone) {
  std::vector<StreamEvent> list;
  for (uint64_t number = 1; number <= 60; ++number)
    list.push_back(born(number, 10, number, kStepBytes));
  run(list, 9);
  EXPECT_TRUE(of("growth").is_null()) << found;
}

} // namespace msleaks::analysis
