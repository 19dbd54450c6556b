#include "arena_maker.h"

#include "analysis/collect/session_dir.h"

#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace msleaks::test {
namespace {

using analysis::SessionDir;
namespace fs = std::filesystem;

analysis::SessionWish wishIn(const test::ScratchFolder &folder) {
  analysis::SessionWish wish;
  wish.enabled = 6;
  wish.clock = abi::ClockKind::Monotonic;
  wish.flags.ring_kib = 32;
  wish.place = SessionDir::propose(folder.path());
  wish.fallback = folder / "fallback";
  return wish;
}

TEST(SessionDir, IsPrivateAndItsControlPageComplete) {
  const test::ScratchFolder folder;
  auto session = SessionDir::create(wishIn(folder));
  ASSERT_TRUE(session) << session.error().message;
  struct stat facts{};
  ASSERT_EQ(stat(session->path().c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0700u);
  ASSERT_EQ(stat((session->path() / abi::kControlFile).c_str(), &facts), 0);
  EXPECT_EQ(facts.st_size, static_cast<off_t>(abi::kHeaderBytes));
  const abi::ControlPage &control = session->control();
  EXPECT_EQ(control.magic, abi::ControlPage::kMagic);
  EXPECT_EQ(control.session_version, abi::kSessionVersion);
  EXPECT_EQ(control.collector_pid, static_cast<uint32_t>(getpid()));
  EXPECT_EQ(control.enabled.load(), 6u | abi::kPathBits);
  EXPECT_EQ(control.flags.ring_kib, 32u);
  EXPECT_EQ(control.state.load(), abi::SessionState::Open);
  EXPECT_TRUE(session->note().empty());
}

TEST(SessionDir, FallsBackWhenSharedMemoryIsMissingOrSmall) {
  const test::ScratchFolder folder;
  auto wish = wishIn(folder);
  wish.place = folder / "missing/session";
  auto session = SessionDir::create(wish);
  ASSERT_TRUE(session);
  EXPECT_EQ(session->path(), wish.fallback);
  EXPECT_NE(session->note().find("missing"), std::string::npos);
  session->remove();

  wish.place = SessionDir::propose();
  wish.flags.ring_max_kib = UINT32_MAX; // rings of this size need 16 TiB of free memory
  session = SessionDir::create(wish);
  ASSERT_TRUE(session);
  EXPECT_EQ(session->path(), wish.fallback);
  EXPECT_NE(session->note().find("MiB free"), std::string::npos);
}

TEST(SessionDir, FailsWithBothReasonsWhenThereIsNoPlaceAtAll) {
  const test::ScratchFolder folder;
  auto wish = wishIn(folder);
  wish.place = folder / "missing/session";
  wish.fallback = folder / "also/missing";
  auto session = SessionDir::create(wish);
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().status, ExitStatus::OwnFault);
}

TEST(SessionDir, IsAdoptedOnlyAfterItsCollector) {
  const test::ScratchFolder folder;
  auto session = SessionDir::create(wishIn(folder));
  ASSERT_TRUE(session);
  const fs::path path = session->path();
  auto early = SessionDir::adopt(path);
  ASSERT_FALSE(early);
  EXPECT_NE(early.error().message.find("still recorded"), std::string::npos);
  session = fail("gone");
  EXPECT_TRUE(SessionDir::adopt(path));
}

TEST(SessionDir, RefusesAPageThatIsNone) {
  const test::ScratchFolder folder;
  auto session = SessionDir::create(wishIn(folder));
  ASSERT_TRUE(session);
  const fs::path path = session->path();
  session->control().magic = 1;
  session = fail("gone");
  EXPECT_FALSE(SessionDir::adopt(path));
  fs::resize_file(path / abi::kControlFile, 100);
  EXPECT_FALSE(SessionDir::adopt(path));
  fs::remove(path / abi::kControlFile);
  EXPECT_FALSE(SessionDir::adopt(path));
}

TEST(SessionDir, SeesArenasComeAndRemovesThemWithTheirDefinitions) {
  const test::ScratchFolder folder;
  auto session = SessionDir::create(wishIn(folder));
  ASSERT_TRUE(session);
  EXPECT_TRUE(session->changed());
  const test::ArenaMaker arena(session->path(), {.pid = 7});
  std::ofstream(arena.definitions()) << "x";
  EXPECT_TRUE(session->changed());
  ASSERT_EQ(session->arenas().size(), 1u);
  EXPECT_EQ(session->arenas()[0], arena.path());
  usleep(50'000);
  EXPECT_TRUE(session->changed()); // reported once more, because the folder's time stamp was recent
  EXPECT_FALSE(session->changed());
  SessionDir::removeArena(arena.path());
  EXPECT_TRUE(session->arenas().empty());
  EXPECT_FALSE(fs::exists(arena.definitions()));
}

} // namespace
} // namespace msleaks::test
