#include "analysis/base/output_folder.h"

#include "random_events.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace msleaks::analysis::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string contentOf(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(OutputFolder, IsThereAsAWholeOrNotAtAll) {
  const ScratchFolder scratch;
  const fs::path path = scratch / "out";
  {
    const auto folder = *OutputFolder::create(path);
    folder->file("half") << "of it";
    EXPECT_FALSE(fs::exists(path));
  }
  EXPECT_TRUE(fs::is_empty(scratch.path())) << "a temporary folder is left";
  const auto folder = *OutputFolder::create(path / "");
  std::ostream &one = folder->file("one"), &two = folder->file("two");
  one << "1";
  two << std::string(200'000, 'x');
  one << "1";
  EXPECT_TRUE(folder->written() && folder->commit());
  EXPECT_EQ(contentOf(path / "one"), "11");
  EXPECT_EQ(contentOf(path / "two"), std::string(200'000, 'x'));
  EXPECT_EQ(std::distance(fs::directory_iterator(path), {}), 2);
  EXPECT_EQ(std::distance(fs::directory_iterator(scratch.path()), {}), 1);
  struct stat status{};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0027u, 0u);
}

TEST(OutputFolder, MayContainFolders) {
  const ScratchFolder scratch;
  const fs::path path = scratch / "out";
  const auto folder = *OutputFolder::create(path);
  folder->file("a/b/one") << "1";
  folder->file("a/b/two") << "2";
  const fs::path placed = folder->place("a/c/three");
  std::ofstream(placed) << "3";
  EXPECT_TRUE(folder->written() && folder->commit());
  EXPECT_EQ(contentOf(path / "a/b/one") + contentOf(path / "a/b/two") + contentOf(path / "a/c/three"), "123");
  struct stat status{};
  ASSERT_EQ(::stat((path / "a/c/three").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0137u, 0u);
}

TEST(OutputFolder, TakesErrorsOfOtherLibraries) {
  const ScratchFolder scratch;
  const auto folder = *OutputFolder::create(scratch / "out");
  folder->place("file");
  folder->place("file"); // is there already
  ASSERT_FALSE(folder->written());
  EXPECT_THAT(folder->written().error().message, HasSubstr("file"));
  folder->refuse({"later", ExitStatus::OwnFault});
  EXPECT_THAT(folder->written().error().message, HasSubstr("file"));
  EXPECT_FALSE(folder->commit());
  EXPECT_FALSE(fs::exists(scratch / "out"));
}

TEST(OutputFolder, ReplacesOnlyAnEmptyFolder) {
  const ScratchFolder scratch;
  fs::create_directory(scratch / "empty");
  const auto folder = OutputFolder::create(scratch / "empty");
  ASSERT_TRUE(folder) << folder.error().message;
  (*folder)->file("new") << "1";
  EXPECT_TRUE((*folder)->commit());
  const auto again = OutputFolder::create(scratch / "empty");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().status, ExitStatus::Usage);
  EXPECT_THAT(again.error().message, HasSubstr("not empty"));
  EXPECT_EQ(contentOf(scratch / "empty" / "new"), "1");
}

// Somebody may write into the folder while the new one is written.
TEST(OutputFolder, NeverRemovesWhatCameMeanwhile) {
  const ScratchFolder scratch;
  const auto folder = *OutputFolder::create(scratch / "out");
  folder->file("new") << "1";
  fs::create_directory(scratch / "out");
  std::ofstream(scratch / "out" / "theirs") << "2";
  EXPECT_FALSE(folder->commit());
  EXPECT_EQ(contentOf(scratch / "out" / "theirs"), "2");
  EXPECT_FALSE(fs::exists(scratch / "out" / "new"));
}

TEST(OutputFolder, TellsWhichFileFailed) {
  const ScratchFolder scratch;
  const auto folder = *OutputFolder::create(scratch / "out");
  folder->file("good") << "1";
  const std::string too_long(300, 'x');
  EXPECT_FALSE(folder->file(too_long).good());
  EXPECT_TRUE(folder->file("good too").good());
  const auto written = folder->written();
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr(too_long));
  EXPECT_FALSE(folder->commit());
  EXPECT_FALSE(fs::exists(scratch / "out"));
}

} // namespace
} // namespace msleaks::analysis::test
