// Tests the writer under faults: torn ends, closed traces, a second writer, and a full disk.
#include "random_events.h"

#include <csignal>
#include <fstream>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace msleaks::analysis::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Writer : public testing::Test {
protected:
  std::vector<abi::Slot> someSlots() { return randomSlots(100, 1000 + 10'000 * batches_++, random_); }

  // Writes `batches` batches and returns the file's length after each of them.
  std::vector<uint64_t> writeBatches(int batches) {
    auto writer = TraceWriter::create(file_);
    std::vector<uint64_t> lengths;
    for (int i = 0; i < batches; ++i) {
      const auto slots = someSlots();
      EXPECT_TRUE(writer->events({1, 0, position_, slots}));
      position_ += slots.size();
      lengths.push_back(writer->bytesWritten());
    }
    return lengths;
  }
  size_t readable() {
    const auto reader = TraceReader::open(file_);
    if (!reader)
      return 0;
    damage_ = reader->damage();
    return readAll(*reader).size();
  }

  std::mt19937_64 random_{1};
  uint64_t position_ = 0, batches_ = 0;
  std::vector<std::string> damage_;
  ScratchFolder folder_;
  fs::path file_ = folder_ / "trace.mslt";
};

TEST_F(Writer, NeverTakesAnExistingFile) {
  std::ofstream(file_) << "mine";
  EXPECT_THAT(TraceWriter::create(file_).error().message, HasSubstr("File exists"));
  EXPECT_EQ(fs::file_size(file_), 4u);
}

TEST_F(Writer, AppendsBehindATornEnd) {
  const auto lengths = writeBatches(3);
  const fs::path whole = folder_ / "whole";
  fs::copy_file(file_, whole);
  for (const uint64_t cut : {lengths[1] + 1, lengths[1] + 79, lengths[1] + 81, lengths[2] - 1}) {
    fs::copy_file(whole, file_, fs::copy_options::overwrite_existing);
    fs::resize_file(file_, cut);
    auto writer = TraceWriter::append(file_);
    ASSERT_TRUE(writer) << writer.error().message;
    EXPECT_EQ(writer->bytesWritten(), lengths[1]);
    const uint64_t from = TraceReader::open(file_)->storedUntil(1, 0);
    const auto slots = someSlots();
    ASSERT_TRUE(writer->events({1, 0, from, slots}));
    ASSERT_TRUE(writer->close());
    EXPECT_EQ(readable(), 300u) << "cut at " << cut;
    EXPECT_TRUE(damage_.empty());
    EXPECT_TRUE(TraceReader::open(file_)->closed());
  }
}

TEST_F(Writer, AppendsToAClosedTrace) {
  writeBatches(2);
  for (int round = 0; round < 2; ++round) {
    auto writer = TraceWriter::append(file_);
    ASSERT_TRUE(writer) << writer.error().message;
    const auto slots = someSlots();
    ASSERT_TRUE(writer->events({1, 0, position_, slots}));
    position_ += slots.size();
    ASSERT_TRUE(writer->close());
  }
  EXPECT_EQ(readable(), 400u);
  EXPECT_TRUE(damage_.empty());
}

TEST_F(Writer, RefusesASecondWriter) {
  auto first = TraceWriter::create(file_);
  ASSERT_TRUE(first);
  EXPECT_THAT(TraceWriter::append(file_).error().message, HasSubstr("being written by another process"));
}

TEST_F(Writer, AppendRefusesWhatIsNoTrace) {
  std::ofstream(file_) << std::string(1000, 'x');
  EXPECT_THAT(TraceWriter::append(file_).error().message, HasSubstr("is not a trace"));
  EXPECT_EQ(fs::file_size(file_), 1000u);
}

// Runs `f` in a child process, in which `f` may change limits. Fails if `f` returns false.
void inChild(const std::function<bool()> &f) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0)
    ::_exit(f() ? 0 : 1);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// Writes until the disk is full, makes room, and continues to write. Returns whether no event was lost, stored twice or
// torn.
bool survivesFullDisk(const fs::path &file, const std::string &reason, const std::function<void()> &makeRoom) {
  std::mt19937_64 random(2);
  auto writer = TraceWriter::create(file);
  uint64_t position = 0, stored = 0, failures = 0;
  bool good = writer.has_value();
  for (int batch = 0; good && batch < 200; ++batch) {
    const auto slots = randomSlots(200, 1000 + static_cast<uint64_t>(batch) * 100'000, random);
    auto written = writer->events({1, 0, position, slots});
    if (!written) {
      ++failures;
      good &= written.error().message.find(reason) != std::string::npos;
      good &= fs::file_size(file) == writer->bytesWritten();
      good &= TraceReader::open(file)->eventCount() == stored;
      makeRoom();
      written = writer->events({1, 0, position, slots});
    }
    good &= written.has_value();
    position += slots.size();
    stored += 200;
  }
  good = good && failures == 1 && writer->close();
  const auto reader = TraceReader::open(file);
  return good && reader && reader->damage().empty() && readAll(*reader).size() == stored;
}

TEST_F(Writer, FileSizeLimitLosesNothing) {
  inChild([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{500'000, RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    return survivesFullDisk(file_, "file too large", [] {
      const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
      ::setrlimit(RLIMIT_FSIZE, &unlimited);
    });
  });
}

TEST_F(Writer, FullDiskLosesNothing) {
  const fs::path disk = folder_ / "disk";
  fs::create_directory(disk);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=2m") != 0)
    GTEST_SKIP() << "only root can make a small disk; FileSizeLimitLosesNothing tests the same path";
  inChild([&] {
    std::ofstream(disk / "ballast") << std::string(1'500'000, 'x');
    return survivesFullDisk(disk / "trace.mslt", "disk full", [&] { fs::remove(disk / "ballast"); });
  });
  EXPECT_EQ(::umount2(disk.c_str(), MNT_DETACH), 0);
}

} // namespace
} // namespace msleaks::analysis::test
