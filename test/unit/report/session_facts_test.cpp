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

std::vector<StreamAccount> twoThreads() { return {{1, 0, 4711, "main", 0, 0, 0}, {1, 1, 4720, "worker", 0, 0, 0}}; }

TEST(SessionNames, AreThoseOfTheTrace) {
  const Names names = namesOf(twoThreads(), twoProcesses());
  EXPECT_EQ(names.process(1), "pid 4711 (train)");
  EXPECT_EQ(names.process(2), "pid 4712 ()");
  EXPECT_EQ(names.process(3), "");
  EXPECT_EQ(names.thread(1, 1), "thread 4720 (worker) of pid 4711 (train)");
  EXPECT_EQ(names.thread(2, 1), "");
}

// A table needs a name in each row. If each row searched the lists, a table of a server with a thread per request would
// take minutes.
TEST(SessionNames, DoNotSearchTheListsAgain) {
  std::vector<StreamAccount> threads = twoThreads();
  std::vector<ReportProcess> processes = twoProcesses();
  const Names names = namesOf(threads, processes);
  for (StreamAccount &thread : threads)
    thread.stream += 100;
  for (ReportProcess &process : processes)
    process.process += 100;
  EXPECT_EQ(names.process(1), "pid 4711 (train)");
  EXPECT_EQ(names.thread(1, 0), "thread 4711 (main) of pid 4711 (train)");
}

} // namespace
} // namespace msleaks::analysis
