// Tests which processes the report mentions because msleaks did not record them.
#include "analysis/collect/unseen.h"

#include "arena_maker.h"

#include <cerrno>
#include <gtest/gtest.h>

namespace msleaks::test {
namespace {

class UnseenTest : public testing::Test {
protected:
  void SetUp() override {
    analysis::SessionWish wish;
    wish.clock = abi::ClockKind::Monotonic;
    wish.place = analysis::SessionDir::propose(folder.path());
    wish.fallback = folder / "fallback";
    auto created = analysis::SessionDir::create(wish);
    ASSERT_TRUE(created) << created.error().message;
    session.emplace(std::move(*created));
    ASSERT_NE(session->unseen(), nullptr);
  }
  // Adds a process to the list of processes that were not recorded. In a session, the process itself or its parent does
  // this.
  void list(const char *name, int32_t error) {
    auto *page = const_cast<abi::UnseenPage *>(session->unseen());
    abi::UnseenProcess &process = page->processes[page->count++];
    process.pid = 4711;
    process.error = error;
    std::strncpy(process.name, name, sizeof process.name - 1);
    process.ready = 1;
  }

  ScratchFolder folder;
  std::optional<analysis::SessionDir> session;
};

TEST_F(UnseenTest, AToolThatOnlyTellsFactsIsNotMentioned) {
  list("ldconfig", abi::kUnfollowed);
  const analysis::Unseen unseen = analysis::readUnseen(*session);
  EXPECT_TRUE(unseen.processes.empty());
  EXPECT_TRUE(unseen.notes.empty());
}

TEST_F(UnseenTest, AnyOtherProcessIs) {
  list("train", abi::kUnfollowed);
  list("ldconfig", EACCES); // with this error, the process should have been recorded
  const analysis::Unseen unseen = analysis::readUnseen(*session);
  ASSERT_EQ(unseen.processes.size(), 2u);
  EXPECT_EQ(unseen.processes[0].command, (std::vector<std::string>{"train"}));
  EXPECT_EQ(unseen.notes.size(), 2u);
}

} // namespace
} // namespace msleaks::test
