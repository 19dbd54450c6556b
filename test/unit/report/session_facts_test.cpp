// Tests the names of processes and threads in a report's tables.
#include "analysis/report/session_facts.h"

#include <gtest/gtest.h>

namespace msleaks::analysis {
namespace {

std::vector<ReportProcess> twoProcesses() {
  ReportProcess train, other;
  train.process = 1;
  train.pid = 4711;
  train.command = {"/bin/train", "--size"};
  other.process = 2;
  other.pid = 4712;
  return {train, other};
}

// Passes on the accounts of two threads, and counts how often they were requested.
struct TwoThreads {
  EachAccount told() {
    return [this](const std::function<void(const StreamAccount &)> &f) {
      ++asked;
      for (const StreamAccount &account : accounts)
        f(account);
    };
  }
  std::vector<StreamAccount> accounts{{1, 0, 4711, "main", 0, 0, 0}, {1, 1, 4720, "worker", 0, 0, 0}};
  int asked = 0;
};

TEST(SessionNames, AreThoseOfTheTrace) {
  TwoThreads threads;
  const Names names = namesOf(threads.told(), twoProcesses());
  EXPECT_EQ(names.process(1), "pid 4711 (train)");
  EXPECT_EQ(names.process(2), "pid 4712 ()");
  EXPECT_EQ(names.process(3), "");
  EXPECT_EQ(names.thread(1, 1), "thread 4720 (worker) of pid 4711 (train)");
  EXPECT_EQ(names.thread(2, 1), "");
}

TEST(SessionNames, HaveTheRankAndTheNameOfTheProcess) {
  TwoThreads threads;
  std::vector<ReportProcess> processes = twoProcesses();
  processes[0].rank = 3;
  processes[0].name = "trai"; // the kernel cuts names
  processes[1].name = "pt_data_worker";
  const Names names = namesOf(threads.told(), processes);
  EXPECT_EQ(names.process(1), "rank 3, pid 4711 (train)");
  EXPECT_EQ(names.process(2), "pid 4712 (pt_data_worker)");
}

// A table needs a name in each row. If each row searched the accounts, a table would take minutes.
TEST(SessionNames, ReadTheAccountsOnce) {
  TwoThreads threads;
  std::vector<ReportProcess> processes = twoProcesses();
  const Names names = namesOf(threads.told(), processes);
  EXPECT_EQ(threads.asked, 0);
  for (ReportProcess &process : processes)
    process.process += 100;
  EXPECT_EQ(names.process(1), "pid 4711 (train)");
  EXPECT_EQ(names.thread(1, 0), "thread 4711 (main) of pid 4711 (train)");
  EXPECT_EQ(names.thread(1, 1), "thread 4720 (worker) of pid 4711 (train)");
  EXPECT_EQ(threads.asked, 1);
}

// A server may have a million threads. So from thread kThreadsApart on, names are looked up and not stored.
TEST(SessionNames, LaterThreadsAreOne) {
  TwoThreads threads;
  threads.accounts.push_back({1, kThreadsApart, 5000, "late", 0, 0, 0});
  const Names names = namesOf(threads.told(), twoProcesses());
  EXPECT_EQ(names.thread(1, kOtherThreads), "other threads of pid 4711 (train)");
  EXPECT_EQ(names.thread(1, kThreadsApart), "thread 5000 (late) of pid 4711 (train)");
}

} // namespace
} // namespace msleaks::analysis
