// Tests the names and ranks of processes.
#include "analysis/reach/process_identity.h"

#include <csignal>
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace msleaks::analysis {
namespace {

using namespace std::string_literals;

TEST(ProcessIdentity, RankIsALaunchersVariable) {
  EXPECT_EQ(rankIn("HOME=/root\0RANK=12\0LOCAL_RANK=4\0"s), 12u);
  EXPECT_EQ(rankIn("OMPI_COMM_WORLD_RANK=0\0"s), 0u);
  EXPECT_EQ(rankIn("SLURM_PROCID=7\0RANK=3"s), 3u) << "the launcher inside of Slurm counts";
  EXPECT_EQ(rankIn("SLURM_PROCID=7\0RANK=\0"s), 7u);
  for (const std::string &text : {""s, "MY_RANK=3\0"s, "RANK"s, "RANK=-1\0"s, "RANK=3x\0"s, "RANK=99999999999\0"s})
    EXPECT_EQ(rankIn(text), std::nullopt) << text;
}

TEST(ProcessIdentity, LastNameCounts) {
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_NAME, "first name");
    raise(SIGSTOP);
    prctl(PR_SET_NAME, "a name that is too long");
    raise(SIGSTOP);
    _exit(0);
  }
  ProcessIdentity identity;
  EXPECT_EQ(identity.name(), "");
  for (const char *name : {"first name", "a name that is "}) {
    ASSERT_EQ(waitpid(child, nullptr, WUNTRACED), child);
    identity.look(static_cast<uint32_t>(child));
    EXPECT_EQ(identity.name(), name);
    kill(child, SIGCONT);
  }
  waitpid(child, nullptr, 0);
  identity.look(static_cast<uint32_t>(child));
  EXPECT_EQ(identity.name(), "a name that is ") << "it has ended";
  identity.look(0);
  EXPECT_EQ(identity.name(), "a name that is ") << "it is not visible";
}

} // namespace
} // namespace msleaks::analysis
