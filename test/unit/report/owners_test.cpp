// Tests the report's memory of owners (parts of a program that it names, such as layers).
#include "report_fixture.h"

namespace msleaks::analysis {
namespace {

class Owners : public ReportTest {
protected:
  static constexpr uint64_t kMs = 1'000'000;

  void begin() {
    start(1, 4711);
    std::string records;
    uint32_t number = 0;
    for (const char *owner : {"torch@model@conv1", "torch@model@conv2", "torch@loader"})
      records += record(abi::DefinitionKind::String, raw(abi::StringDefinition{++number, 0}) + owner);
    ASSERT_TRUE(writer->definitions(1, std::as_bytes(std::span(records))));
  }
  void push(uint64_t label) { list.push_back(test::make<abi::OwnerPushEvent>(now(), {}, label, 0)); }
  void pop() { list.push_back(test::make<abi::OwnerPopEvent>(now(), {}, 0, 0)); }
  void step(uint64_t number) { list.push_back(test::make<abi::StepEvent>(now(), {}, number, 0)); }
  void alloc(uint64_t address, uint64_t bytes) { list.push_back(test::alloc(now(), address << 4, bytes, {.site = 1})); }
  void free(uint64_t address) { list.push_back(test::free(now(), address << 4, {.site = 1})); }
  // Pushes this owner, allocates a block, and pops the owner.
  void alloc(uint64_t label, uint64_t address, uint64_t bytes) {
    push(label);
    alloc(address, bytes);
    pop();
  }
  json finish() {
    events(list);
    end(1, 0, now());
    manifest();
    close();
    return asJson();
  }
  static json rowsOf(const json &report, const std::string &name) {
    for (const json &section : report["sections"])
      if (section["name"] == name)
        return section["rows"];
    return {};
  }
  uint64_t now() { return kStart + ++ms * kMs; }
  std::vector<StreamEvent> list;
  uint64_t ms = 0;
};

} // namespace

TEST_F(Owners, AreATreeOfSums) {
  begin();
  alloc(1, 1, 1000);
  alloc(2, 2, 200);
  alloc(3, 3, 70); // the owner torch has its own peak here
  free(2);
  alloc(3, 4, 5);
  alloc(5, 10'000); // a block without an owner makes the peak
  free(5);
  alloc(2, 6, 1);
  const json report = finish();
  const json rows = rowsOf(report, "owners");
  ASSERT_EQ(rows.size(), 6u) << rows;
  const auto numbers = [&](size_t row) { return std::vector<uint64_t>{rows[row][1], rows[row][2], rows[row][3]}; };
  using Numbers = std::vector<uint64_t>; // an owner's bytes at the peak, at the end, and at its own peak
  EXPECT_EQ(rows[0][0], "torch");
  EXPECT_EQ(numbers(0), (Numbers{1075, 1076, 1270}));
  EXPECT_EQ(rows[1][0], "torch@loader");
  EXPECT_EQ(numbers(1), (Numbers{75, 75, 75}));
  EXPECT_EQ(rows[2][0], "torch@model");
  EXPECT_EQ(numbers(2), (Numbers{1000, 1001, 1200}));
  EXPECT_EQ(rows[3][0], "torch@model@conv1");
  EXPECT_EQ(numbers(3), (Numbers{1000, 1000, 1000}));
  EXPECT_EQ(rows[4][0], "torch@model@conv2");
  EXPECT_EQ(numbers(4), (Numbers{0, 1, 200}));
  EXPECT_TRUE(rows[5][0].is_null());
  EXPECT_EQ(numbers(5), (Numbers{10'000, 0, 10'000}));
  EXPECT_EQ(rows[0][4], 8 * kMs) << "since the beginning";
  EXPECT_TRUE(rowsOf(report, "owner_steps").is_null()) << "there are no steps";
  EXPECT_NE(asTable(120).find("Owners, each with all below it"), std::string::npos) << asTable(120);
}

// The loader makes the pool allocate a segment. The first convolution gets two parts of it, and frees one of them.
TEST_F(Owners, HaveWhatPoolsHandThem) {
  const Where part{.heap = abi::Heap::Pool, .site = 2};
  begin();
  alloc(3, 1, 10'000);
  push(1);
  list.push_back(test::alloc(now(), 1 << 4, 600, part));
  list.push_back(test::alloc(now(), (1 << 4) + 5000, 3000, part));
  list.push_back(test::free(now(), (1 << 4) + 5000, part));
  pop();
  push(2);
  list.push_back(test::alloc(now(), (1 << 4) + 20, 20'000, part)); // a part of a part, which is the deepest nesting
  pop();
  const json rows = rowsOf(finish(), "owners");
  const auto numbersOf = [&](const char *owner) {
    for (const json &row : rows)
      if (row[0] == owner)
        return std::vector<uint64_t>{row[1], row[2], row[3]};
    return std::vector<uint64_t>{};
  };
  using Numbers = std::vector<uint64_t>; // an owner's bytes at the peak, at the end, and at its own peak
  EXPECT_EQ(numbersOf("torch"), (Numbers{10'000, 10'000, 10'000}));
  EXPECT_EQ(numbersOf("torch@model@conv1"), (Numbers{0, 600, 3600}));
  EXPECT_EQ(numbersOf("torch@model@conv2"), (Numbers{0, 9400, 9400}));
  EXPECT_EQ(numbersOf("torch@loader"), (Numbers{10'000, 0, 10'000}));
}

// The third block is allocated after the peak, so the peak does not have it.
TEST_F(Owners, ThatAreNamedLaterOwnThePeakToo) {
  const auto own = [&](uint64_t address, uint64_t label) {
    list.push_back(test::owned(now(), (address << 4) + 7, label));
  };
  begin();
  alloc(1, 1000);
  alloc(2, 200);
  alloc(3, 50);
  free(3);
  alloc(4, 30);
  own(1, 2);
  own(4, 2);
  own(1, 3);
  const json rows = rowsOf(finish(), "owners");
  std::map<std::string, std::vector<uint64_t>> numbers; // an owner's bytes at the peak and at the end
  for (const json &row : rows)
    numbers[row[0].is_null() ? "" : row[0]] = {row[1], row[2]};
  EXPECT_EQ(numbers["torch@loader"], (std::vector<uint64_t>{1000, 1000}));
  EXPECT_EQ(numbers["torch@model@conv2"], (std::vector<uint64_t>{0, 30}));
  EXPECT_EQ(numbers["torch"], (std::vector<uint64_t>{1000, 1030}));
  EXPECT_EQ(numbers[""], (std::vector<uint64_t>{250, 200}));
}

TEST_F(Owners, AreNotShownWhereNobodyNamesAny) {
  begin();
  alloc(1, 100);
  EXPECT_TRUE(rowsOf(finish(), "owners").is_null());
}

TEST_F(Owners, OfManyStepsSomeAreKept) {
  begin();
  for (uint64_t number = 1; number <= 1000; ++number) {
    step(number);
    alloc(1, number, 10);
  }
  const json rows = rowsOf(finish(), "owner_steps");
  std::map<std::string, uint64_t> steps;
  for (const json &row : rows) {
    ++steps[row[0]];
    EXPECT_EQ(row[2], (row[1].get<uint64_t>() - 1) * 10) << row; // the bytes when the step began
  }
  EXPECT_EQ(steps.size(), 3u);
  for (const auto &[owner, count] : steps) {
    EXPECT_GE(count, 60u) << owner;
    EXPECT_LT(count, 128u) << owner;
  }
}

} // namespace msleaks::analysis
