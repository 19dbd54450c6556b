// Tests that a heap profile of pprof becomes a run of msleaks. test/e2e/import reads profiles of Go.
#include "import_fixture.h"

#include "analysis/exporters/protobuf.h"

namespace msleaks::analysis {
namespace {

// A profile with two columns, as tcmalloc writes it, or with the four of Go.
class ProfileBuilder {
public:
  explicit ProfileBuilder(const std::vector<std::string> &columns) {
    numberOf("");
    for (const std::string &column : columns) {
      ProtobufMessage type;
      type.number(1, numberOf(column));
      type.number(2, numberOf("bytes"));
      profile_.message(1, type);
    }
  }
  uint64_t numberOf(const std::string &text) {
    const auto [found, is_new] = numbers_.try_emplace(text, texts_.size());
    if (is_new)
      texts_.push_back(text);
    return found->second;
  }
  // Adds a sample whose path is one call of this function.
  void sample(const std::string &function, const std::string &file, std::vector<uint64_t> values) {
    const uint64_t id = ++last_id_;
    ProtobufMessage fields, line, location, name;
    fields.numbers(1, std::vector{id});
    fields.numbers(2, values);
    profile_.message(2, fields);
    line.number(1, id);
    line.number(2, 7);
    location.number(1, id);
    location.number(3, id * 16);
    location.message(4, line);
    profile_.message(4, location);
    name.number(1, id);
    name.number(2, numberOf(function));
    name.number(4, numberOf(file));
    profile_.message(5, name);
  }
  std::string finish() {
    for (const std::string &text : texts_)
      profile_.text(6, text);
    return profile_.bytes();
  }

private:
  ProtobufMessage profile_;
  std::map<std::string, uint64_t> numbers_;
  std::vector<std::string> texts_;
  uint64_t last_id_ = 0;
};

const std::vector<std::string> kGo = {"alloc_objects", "alloc_space", "inuse_objects", "inuse_space"};

class PprofImport : public ImportTest {};

} // namespace

TEST_F(PprofImport, HasTheSumsOfThePaths) {
  ProfileBuilder profile(kGo);
  profile.sample("keep", "/src/main.go", {10, 1003, 3, 103});
  profile.sample("lose", "/src/main.go", {1, 50, 1, 50});
  profile.sample("never", "/src/main.go", {7, 70, 0, 0});
  const Report report = reportOfFile(profile.finish());
  EXPECT_EQ(report.peak.bytes, 153u);
  std::map<std::string, std::pair<uint64_t, uint64_t>> lines;
  for (const SiteLine &line : report.peak.by_site)
    lines[line.site.function] = {line.bytes, line.count};
  EXPECT_EQ(lines, (decltype(lines){{"keep", {103, 3}}, {"lose", {50, 1}}}));
  EXPECT_EQ(report.leaks.sum.bytes, 0u) << "the program still ran";
  EXPECT_EQ(report.alive.sum.count, 4u);
  EXPECT_EQ(report.events.stored, 4u + 2 * 14u);
  EXPECT_EQ(report.source, "pprof");
  EXPECT_TRUE(hasNote(report, "no times"));
}

TEST_F(PprofImport, CountsAreBounded) {
  ProfileBuilder profile(kGo);
  profile.sample("huge", "/src/main.go", {INT64_MAX, INT64_MAX, uint64_t{1} << 40, uint64_t{1} << 50});
  profile.sample("small", "/src/main.go", {5, 60, 1, 7});
  const Report report = reportOfFile(profile.finish());
  EXPECT_EQ(report.peak.bytes, (uint64_t{1} << 50) + 7);
  EXPECT_LE(report.alive.sum.count, 1'000'001u);
  EXPECT_TRUE(hasNote(report, "1099511627777 blocks are alive, which are too many"));
  EXPECT_TRUE(hasNote(report, "are left out: they are too many"));
}

// The difference of two profiles has negative values, and a sampled count may be 0.
TEST_F(PprofImport, NegativeAndMissingValuesAreNone) {
  ProfileBuilder profile(kGo);
  profile.sample("less", "/src/main.go", {0, 0, UINT64_MAX, UINT64_MAX - 500});
  profile.sample("rounded", "/src/main.go", {0, 900, 0, 900});
  profile.sample("short", "/src/main.go", {1});
  const Report report = reportOfFile(profile.finish());
  EXPECT_EQ(report.peak.bytes, 900u);
  EXPECT_EQ(report.alive.sum.count, 1u);
}

TEST_F(PprofImport, OtherProfilesAreRefused) {
  ProfileBuilder cpu({"samples", "cpu\n"});
  cpu.sample("run", "/src/main.go", {1, 2});
  const auto refused = importedReport(fileOf(cpu.finish(), "foreign"));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("samples, cpu\\x0a, but not of memory in use"), std::string::npos)
      << refused.error().message;
  const auto empty = importedReport(fileOf(ProfileBuilder(kGo).finish(), "foreign"));
  ASSERT_FALSE(empty);
  EXPECT_NE(empty.error().message.find("nothing that msleaks can use"), std::string::npos) << empty.error().message;
}

TEST_F(PprofImport, ACutFileIsOneLineOrTheRest) {
  ProfileBuilder profile(kGo);
  profile.sample("a;b \"c\",\n<e>\x1b[31m", "=1+1.py", {2, 20, 1, 10});
  profile.sample("\xff\xfe", std::string(4096, 'n'), {1, 5, 1, 5});
  const std::string content = profile.finish();
  EXPECT_EQ(reportOfFile(content).peak.bytes, 15u);
  cutAndChange(content, 31);
}

} // namespace msleaks::analysis
