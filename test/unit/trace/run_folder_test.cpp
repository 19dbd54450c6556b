#include "random_events.h"

#include "analysis/base/output.h"
#include "analysis/base/path_check.h"
#include "analysis/base/run_folder.h"

#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace msleaks::analysis::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

mode_t modeOf(const fs::path &path) {
  struct stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

// Returns the message of a refusal. Each refusal must be a usage error with a message of one line.
std::string refusalOf(const Result<void> &result) {
  if (result)
    return "";
  EXPECT_EQ(result.error().status, ExitStatus::Usage);
  EXPECT_EQ(result.error().message.find_first_of("\n\r\x1b"), std::string::npos);
  return result.error().message;
}

Manifest sampleManifest() {
  Manifest manifest;
  manifest.state = "running";
  manifest.msleaks_version = "0.1.0";
  manifest.session_dir = "/dev/shm/x";
  manifest.host = "h\"o\\st\n";
  manifest.start_realtime_ns = 1'800'000'000'000'000'000;
  manifest.start_ns = UINT64_MAX;
  manifest.end_ns = 7;
  manifest.command = {"prog", "", "--a=b c"};
  manifest.processes = {{1, 100, {"prog"}, 0}, {0, 101, {}, -1}, {2, 102, {"child", "x"}, 137}};
  manifest.collector_cpu_ns = 12345;
  manifest.options = {"-o", "run"};
  manifest.notes = {"one", "two"};
  manifest.source = "msmemscope";
  return manifest;
}

TEST(Manifest, RoundTrip) {
  const std::string text = formatManifest(sampleManifest());
  const auto read = parseManifest(text, "m");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(formatManifest(*read), text);
  EXPECT_EQ(read->start_ns, UINT64_MAX);
  EXPECT_EQ(read->source, "msmemscope");
  EXPECT_EQ(read->host, "h\"o\\st\n");
  ASSERT_EQ(read->processes.size(), 3u);
  EXPECT_EQ(read->processes[1].exit_status, -1);
  EXPECT_THAT(read->processes[2].command, ElementsAre("child", "x"));
}

TEST(Manifest, KeepsWhatIsNotUtf8Readable) {
  Manifest manifest = sampleManifest();
  manifest.command = {"caf\xe9"};
  const auto read = parseManifest(formatManifest(manifest), "m");
  ASSERT_TRUE(read);
  EXPECT_THAT(read->command, ElementsAre("caf\xef\xbf\xbd"));
}

TEST(Manifest, RefusesWhatItCannotRead) {
  const auto errorOf = [](std::string_view text) {
    const auto read = parseManifest(text, "run/manifest.json");
    return read ? std::string() : read.error().message;
  };
  EXPECT_THAT(errorOf(""), HasSubstr("is not a manifest"));
  EXPECT_THAT(errorOf("[1]"), HasSubstr("is not a manifest"));
  EXPECT_THAT(errorOf("{\"state\": \"running\"}"), HasSubstr("version is missing"));
  EXPECT_THAT(errorOf("{\"version\": 2}"), HasSubstr("newer msleaks (manifest version 2, this one reads up to 1)"));
  EXPECT_THAT(errorOf("{\"version\": 1, \"start_ns\": -1}"), HasSubstr("start_ns"));
  EXPECT_THAT(errorOf("{\"version\": 1, \"end_ns\": 1.5}"), HasSubstr("end_ns"));
  EXPECT_THAT(errorOf("{\"version\": 1, \"processes\": [{}, {\"pid\": \"x\"}]}"), HasSubstr("processes[1].pid"));
  EXPECT_EQ(errorOf("{\"version\": 1, \"from_the_future\": {}}"), "");
  EXPECT_THAT(errorOf(std::string(100000, '[')), HasSubstr("is not a manifest"));
}

TEST(RunFolder, IsMadeForUsAndOurGroup) {
  const ScratchFolder scratch;
  const auto folder = RunFolder::create(scratch / "a" / "run/");
  ASSERT_TRUE(folder) << folder.error().message;
  EXPECT_EQ(modeOf(folder->path()) & ~0750, 0u);
  ASSERT_TRUE(folder->writeManifest(sampleManifest()));
  EXPECT_EQ(modeOf(folder->path() / kManifestFile) & ~0640, 0u);
  ASSERT_TRUE(TraceWriter::create(folder->trace()));
  EXPECT_EQ(modeOf(folder->trace()) & ~0640, 0u);
  // No temporary file remains.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder->path()), fs::directory_iterator()), 2);

  const auto again = RunFolder::create(scratch / "a" / "run");
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("not empty"));
  EXPECT_EQ(again.error().status, ExitStatus::Usage);
}

TEST(RunFolder, TakesAnEmptyFolderAndClosesIt) {
  const ScratchFolder scratch;
  fs::create_directory(scratch / "run");
  ::chmod((scratch / "run").c_str(), 0755);
  ASSERT_TRUE(RunFolder::create(scratch / "run"));
  EXPECT_EQ(modeOf(scratch / "run"), 0750u);
}

// Another user may create a link at the path of the run folder after msleaks has checked this path. msleaks must not
// use the folder to which the link leads.
TEST(RunFolder, IsNeverALinkWhenItIsMade) {
  const ScratchFolder scratch;
  fs::create_directory(scratch / "victim");
  ::chmod((scratch / "victim").c_str(), 0777);
  fs::create_directory_symlink(scratch / "victim", scratch / "run");
  const auto made = makeOutputFolder(scratch / "run", 0750);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("symbolic link"));
  EXPECT_EQ(made.error().status, ExitStatus::Usage);
  EXPECT_EQ(modeOf(scratch / "victim"), 0777u);
}

// Another user may replace the run folder by a link while msleaks writes into the folder. All files must still be
// created in the first folder.
TEST(RunFolder, StaysTheFolderThatWasMade) {
  const ScratchFolder scratch;
  const auto folder = RunFolder::create(scratch / "run");
  ASSERT_TRUE(folder);
  fs::create_directory(scratch / "victim");
  fs::rename(scratch / "run", scratch / "moved");
  fs::create_directory_symlink(scratch / "victim", scratch / "run");
  ASSERT_TRUE(folder->writeManifest(sampleManifest()));
  ASSERT_TRUE(TraceWriter::create(folder->trace(), folder->descriptor()));
  EXPECT_TRUE(fs::is_empty(scratch / "victim"));
  EXPECT_TRUE(fs::exists(scratch / "moved" / kManifestFile));
  EXPECT_TRUE(fs::exists(scratch / "moved" / kTraceFile));
}

TEST(RunFolder, OpensFolderOrTrace) {
  const ScratchFolder scratch;
  EXPECT_THAT(RunFolder::open(scratch / "none").error().message, HasSubstr("No such file"));
  EXPECT_THAT(RunFolder::open(scratch.path()).error().message, HasSubstr("is not a run folder"));
  std::ofstream(scratch / kTraceFile) << "x";
  fs::copy_file(scratch / kTraceFile, scratch / "other.mslt");
  EXPECT_EQ(RunFolder::open(scratch.path())->trace(), scratch / kTraceFile);
  EXPECT_EQ(RunFolder::open(scratch / "other.mslt")->trace(), scratch / "other.mslt");
  EXPECT_EQ(RunFolder::open(scratch / "other.mslt")->path(), scratch.path());
  EXPECT_THAT(RunFolder::open(scratch.path())->readManifest().error().message, HasSubstr("manifest.json"));
}

TEST(PathCheck, Names) {
  EXPECT_EQ(refusalOf(checkName("runs/2026-11-21 a=b+c@d-e")), "");
  EXPECT_EQ(refusalOf(checkName("/tmp/größe")), "");
  EXPECT_EQ(refusalOf(checkName("../up/./x")), "");
  EXPECT_THAT(refusalOf(checkName("")), HasSubstr("empty"));
  for (const char *name : {"=cmd", "a/+x", "-o", "@x/b"})
    EXPECT_THAT(refusalOf(checkName(name)), HasSubstr("begins with")) << name;
  for (const char *name : {"a\nb", "a\x1b[2J", "tab\there", "del\x7f", "c1\xc2\x9b"})
    EXPECT_THAT(refusalOf(checkName(name)), HasSubstr("control characters")) << name;
  EXPECT_THAT(refusalOf(checkName(std::string(250, 'x'))), HasSubstr("250 bytes"));
  std::string deep;
  for (int i = 0; i < 500; ++i)
    deep += "folder/0123";
  EXPECT_THAT(refusalOf(checkName(deep)), HasSubstr("5500 bytes"));
}

TEST(PathCheck, LinksOwnersAndModes) {
  const ScratchFolder scratch;
  fs::create_directory(scratch / "real");
  fs::create_directory_symlink(scratch / "real", scratch / "link");
  EXPECT_THAT(refusalOf(checkOutputFolder(scratch / "link")), HasSubstr("symbolic link"));
  EXPECT_THAT(refusalOf(checkOutputFolder(scratch / "link/")), HasSubstr("symbolic link"));
  EXPECT_EQ(refusalOf(checkOutputFolder(scratch / "link" / "below")), "");
  std::ofstream(scratch / "file") << "x";
  EXPECT_THAT(refusalOf(checkOutputFolder(scratch / "file")), HasSubstr("not a folder"));
  EXPECT_THAT(refusalOf(checkOutputFolder(scratch / "file" / "x")), HasSubstr("not a folder"));
  EXPECT_THAT(refusalOf(checkOutputFile(scratch / "real")), HasSubstr("not a regular file"));
  ::chmod((scratch / "real").c_str(), 0777);
  EXPECT_THAT(refusalOf(checkOutputFolder(scratch / "real")), HasSubstr("every user may write"));
  EXPECT_THAT(refusalOf(checkOutputFile(scratch / "real" / "x")), HasSubstr("every user may replace"));
  EXPECT_THAT(refusalOf(checkOutputFolder(scratch / "real" / "new" / "run")), HasSubstr("every user may replace"));
  ::chmod((scratch / "real").c_str(), 01777);
  EXPECT_EQ(refusalOf(checkOutputFolder(scratch / "real" / "new" / "run")), "");
  EXPECT_EQ(refusalOf(checkOutputFile(scratch / "real" / "x")), "");
  if (::geteuid() != 0)
    GTEST_SKIP() << "only root can make a folder of somebody else";
  fs::create_directory(scratch / "theirs");
  ASSERT_EQ(::chown((scratch / "theirs").c_str(), 12345, 12345), 0);
  EXPECT_THAT(refusalOf(checkOutputFolder(scratch / "theirs")), HasSubstr("belongs to user 12345"));
}

TEST(OutputFile, AppearsWhenCommitted) {
  const ScratchFolder scratch;
  const fs::path path = scratch / "report.json";
  std::ofstream(path) << "old";
  {
    auto file = OutputFile::create(path);
    ASSERT_TRUE(file) << file.error().message;
    ASSERT_TRUE(file->write(std::string(200'000, 'n')));
    EXPECT_EQ(contentOf(path), "old");
    ASSERT_TRUE(file->commit());
    EXPECT_EQ(contentOf(path), std::string(200'000, 'n'));
  }
  EXPECT_EQ(modeOf(path) & ~0640, 0u);
  {
    auto file = OutputFile::create(path);
    ASSERT_TRUE(file && file->write("never"));
  }
  EXPECT_EQ(contentOf(path).size(), 200'000u);
  EXPECT_EQ(std::distance(fs::directory_iterator(scratch.path()), fs::directory_iterator()), 1);
}

} // namespace
} // namespace msleaks::analysis::test
