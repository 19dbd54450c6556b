// Tests what the tracer tells an observer about processes, threads, calls and signals of shell scripts.
#include "analysis/second_run/call_buffers.h"
#include "analysis/second_run/tracer.h"

#include "traced_program.h"

#include <csignal>
#include <functional>
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace msleaks::analysis {
namespace {

// Counts what it is told. Suppresses the signal SIGUSR2.
struct CountingObserver final : TraceObserver {
  std::vector<sock_filter> filter() const override { return filterOf({SYS_execve}); }
  void starts(TracedThread &) override { ++started; }
  void replaced(TracedThread &thread) override {
    ++executed;
    EXPECT_EQ(thread.as<int>(), 0); // exec begins a new state
    thread.as<int>() = 1;
  }
  void called(TracedThread &, const SystemCall &call) override {
    EXPECT_EQ(call.number, static_cast<uint64_t>(SYS_execve));
    ++called_exec;
  }
  std::optional<int> signalled(TracedThread &, int signal) override {
    signals.push_back(signal);
    return signal == SIGUSR2 ? 0 : signal;
  }
  void ends(TracedThread &thread, Last last) override {
    ended_processes += last.of_process ? 1 : 0;
    ended_memories += last.of_memory ? 1 : 0;
    EXPECT_TRUE(!last.of_memory || thread.tracer->isAlone(thread));
    atEnd(thread.tid());
  }

  int started = 0, executed = 0, called_exec = 0, ended_processes = 0, ended_memories = 0;
  std::vector<int> signals;
  std::function<void(pid_t)> atEnd = [](pid_t) {};
};

class TraceObserverTest : public testing::Test {
protected:
  // Returns the wait status of the shell.
  int run(const std::string &script) {
    EXPECT_TRUE(test::startTraced(tracer, "/bin/sh", {"sh", "-c", script}).has_value());
    return tracer.run();
  }

  CountingObserver observer;
  Tracer tracer{observer};
};

TEST_F(TraceObserverTest, EachProcessEndsOnce) {
  EXPECT_EQ(shellStatus(run("/bin/true; (exit 2) & wait; /bin/true; exit 5")), 5);
  EXPECT_EQ(observer.started, 3); // the shell itself had started before it was traced
  EXPECT_EQ(observer.executed, 3);
  EXPECT_EQ(observer.called_exec, 2); // the exec of the shell is not the program's call
  EXPECT_EQ(observer.ended_processes, 4);
  EXPECT_EQ(observer.ended_memories, 4);
  EXPECT_EQ(tracer.processes(), 4u);
  EXPECT_EQ(tracer.missed(), 0u);
}

TEST_F(TraceObserverTest, TheObserverDecidesAboutSignals) {
  EXPECT_EQ(shellStatus(run("trap 'exit 7' USR1; kill -USR2 $$; kill -USR1 $$; exit 1")), 7);
  EXPECT_EQ(observer.signals, (std::vector{SIGUSR2, SIGUSR1}));
}

TEST_F(TraceObserverTest, AKilledProcessHasItsStatus) { EXPECT_EQ(shellStatus(run("kill -KILL $$")), 128 + SIGKILL); }

// Waits until a process is in the state that /proc shows by this letter.
void waitForState(pid_t process, std::string_view state) {
  while (statusOf(process, "State:") != state)
    usleep(1000);
}

// The shell ends before the tracer sees the first stop of its child.
TEST_F(TraceObserverTest, AChildOfAKilledProcessRunsToItsEnd) {
  const auto shell = test::startTraced(tracer, "/bin/sh", {"sh", "-c", "(exit 0) & wait"});
  ASSERT_TRUE(shell.has_value());
  waitForState(*shell, "t"); // at the birth of its child
  observer.atEnd = [&](pid_t ending) {
    if (ending == *shell && ptrace(PTRACE_CONT, ending, nullptr, nullptr) == 0)
      waitForState(ending, "Z");
  };
  kill(*shell, SIGKILL);
  for (long message = 0; message != SIGKILL; usleep(1000)) // at its end
    ptrace(PTRACE_GETEVENTMSG, *shell, nullptr, &message);
  EXPECT_EQ(shellStatus(tracer.run()), 128 + SIGKILL);
  EXPECT_EQ(observer.started, 1);
  EXPECT_EQ(observer.ended_processes, 2);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG | __WALL), -1);
}

TEST_F(TraceObserverTest, AProgramThatCannotBeExecuted) {
  const auto started = test::startTraced(tracer, "/no/such", {"such"});
  ASSERT_FALSE(started.has_value());
  EXPECT_EQ(started.error().exit_status, kNotFound);
  EXPECT_EQ(observer.executed, 0);
  EXPECT_EQ(tracer.processes(), 0u);
}

} // namespace
} // namespace msleaks::analysis
