// Tests the tracer with installed programs. The hooks offer blocks to the tracer, which guards all of them or none. The
// programs must behave as without msleaks.
#include "analysis/second_run/guard_observer.h"
#include "analysis/second_run/write_observer.h"
#include "msleaks/abi/guarded.h"

#include "traced_program.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace msleaks::analysis {
namespace {

namespace fs = std::filesystem;

struct Done {
  int status = 0;
  std::string output;
};

class TracerTest : public testing::Test {
protected:
  void SetUp() override {
    folder = fs::temp_directory_path() / fmt::format("msleaks-tracer-{}", getpid());
    fs::create_directories(folder);
  }
  void TearDown() override { fs::remove_all(folder); }

  // Runs a shell script. If `guarded`, every block of 4 KiB or more is guarded. Otherwise no block is guarded.
  Done run(const std::string &script, bool guarded) {
    const fs::path output = folder / "output";
    const std::vector<std::string> command{
        "sh", "-c", fmt::format("exec > {}; cd {}; {}", output.string(), folder.string(), script)};
    GuardObserver guard({.wants =
                             [&](const StoppedThread &, pid_t, uint64_t) {
                               ++offers;
                               return guarded;
                             },
                         .touched = [&](const StoppedThread &, pid_t, const GuardedBlock &) { ++touches; },
                         .replaced = [](pid_t) {}});
    Tracer tracer(guard);
    const auto environment = makeEnvironment(fmt::format("{}=4096", abi::kGuardVariable), {MSL_HOOKS_LIBRARY});
    EXPECT_TRUE(test::startTraced(tracer, "/bin/sh", command, environment).has_value());
    const int status = tracer.run();
    blocks = guard.blocks();
    refused = guard.refused();
    std::ifstream file(output);
    return {status, std::string(std::istreambuf_iterator<char>(file), {})};
  }

  void expectSame(const std::string &script) {
    const Done alone = run(script, false), guarded = run(script, true);
    EXPECT_EQ(guarded.status, alone.status) << script;
    EXPECT_EQ(guarded.output, alone.output) << script;
    EXPECT_GT(blocks.size(), 0u) << script;
    EXPECT_GT(touches, 0u) << script;
    std::printf("%zu blocks, %zu touched, of %zu offered: %s\n", blocks.size(), touches, offers, script.c_str());
  }

  // Runs mapping_victim.c, which touches each of its mappings.
  void expectAllTouched(const char *how, std::ptrdiff_t count) {
    EXPECT_EQ(run(fmt::format("{} {} {}", MSL_MAPPING_VICTIM, how, count), true).status, 0);
    const auto ofVictim = [](const auto &block) { return block->bytes == 5 * 4096; };
    const auto touched = [&](const auto &block) { return ofVictim(block) && block->isTouched(); };
    EXPECT_EQ(std::count_if(blocks.begin(), blocks.end(), ofVictim), count);
    EXPECT_EQ(std::count_if(blocks.begin(), blocks.end(), touched), count);
    EXPECT_FALSE(refused);
  }

  fs::path folder;
  size_t offers = 0, touches = 0;
  std::vector<std::shared_ptr<GuardedBlock>> blocks;
  bool refused = false;
};

bool has(const char *program) { return findProgram(program).has_value(); }

TEST_F(TracerTest, SortWithThreads) { expectSame("seq 300000 | sort -r --parallel=4 -S 8M | md5sum"); }

TEST_F(TracerTest, ToolsThatReadAndWriteMuch) {
  expectSame("head -c 3000000 /dev/zero > a && gzip -9 < a | gunzip | cmp - a && tar cf b.tar a && tar tf b.tar && dd "
             "if=a of=c bs=1M 2>&1 | head -2");
}

TEST_F(TracerTest, Python) {
  if (!has("python3"))
    GTEST_SKIP() << "no python3";
  expectSame(
      "python3 -c 'import json, threading, subprocess, os, mmap\n"
      "a = [list(range(5000)) for _ in range(50)]\n"
      "t = [threading.Thread(target=lambda: sum(map(sum, a))) for _ in range(8)]\n"
      "[x.start() for x in t]; [x.join() for x in t]\n"
      "b = bytearray(1 << 20)\n"
      "f = open(\"/dev/zero\", \"rb\", 0); print(f.readinto(b), os.writev(1, [b\"x\" * 100000, b\"y\\n\"]))\n"
      "r, w = os.pipe(); os.write(w, b\"q\" * 60000); print(os.readv(r, [b]))\n"
      "import socket; s, t = socket.socketpair(); s.sendmsg([b\"1\" * 20000, b\"2\"]); print(t.recvmsg_into([b])[0])\n"
      "print(subprocess.run([\"echo\", \"z\" * 5000], capture_output=True).stdout[:5], os.fork() and os.wait()[1])'");
}

TEST_F(TracerTest, TheCompiler) {
  if (!has("gcc"))
    GTEST_SKIP() << "no gcc";
  expectSame("printf 'int main(void) { return 42; }' > x.c && gcc -O2 -g x.c -o x; ./x; echo $?");
}

TEST_F(TracerTest, HowAProgramEnds) {
  expectSame("seq 100000 | sort > /dev/null; kill -SEGV $$");
  expectSame("seq 100000 | sort > /dev/null; exit 7");
}

TEST_F(TracerTest, AProgramThatStopsAndGoesOn) {
  expectSame("(sleep 0.2; kill -CONT $$) & kill -STOP $$; seq 100000 | sort | md5sum; echo on");
}

TEST_F(TracerTest, MappingsThatEndMakeRoomForOthers) { expectAllTouched("ended", 9000); }
TEST_F(TracerTest, ManyMappingsAtOneTime) { expectAllTouched("alive", 1100); }

// A child of vfork has the memory of its parent until it calls exec.
TEST_F(TracerTest, PagesAreReadAtTheEndOfAProcessThatStartedAnother) {
  expectAllTouched("starts", 3);
  for (const auto &block : blocks)
    if (block->bytes == 5 * 4096) {
      EXPECT_EQ(block->resident_bytes, 4096u);
    }
}

// The exec of one thread ends the others, perhaps before they can report the birth of a thread.
TEST_F(TracerTest, ThreadsThatCallExecAtTheSameTime) {
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(run(fmt::format("{} replaced", MSL_MAPPING_VICTIM), true).status, 0);
}

// The signal of a page that the program itself has closed is the program's.
TEST_F(TracerTest, PagesThatTheProgramCloses) {
  EXPECT_EQ(run(fmt::format("{} protected", MSL_MAPPING_VICTIM), true).status, 0);
}

TEST_F(TracerTest, AProgramThatExecutesAGuardedBlock) {
  EXPECT_EQ(run(fmt::format("{} executed; test $? = {}", MSL_MAPPING_VICTIM, 128 + SIGSEGV), true).status, 0);
}

// The thread touches more blocks before the tracer handles the birth of a child.
TEST_F(TracerTest, ChildrenOfAProcessWhoseThreadTouchesBlocks) {
  EXPECT_EQ(run(fmt::format("{} touched", MSL_FORKING_VICTIM), true).status, 0);
}

TEST_F(TracerTest, ChildrenOfAProcessWhoseThreadFreesBlocks) {
  EXPECT_EQ(run(fmt::format("{} freed", MSL_FORKING_VICTIM), true).status, 0);
}

// The parent of such a child is the tracer.
TEST_F(TracerTest, ChildrenThatAreSiblingsOfTheProcess) {
  EXPECT_EQ(run(fmt::format("exec {} siblings", MSL_FORKING_VICTIM), true).status, 0);
}

TEST_F(TracerTest, ChildrenOfAProcessWhoseThreadOpensAWatchedBlock) {
  WriteQuestion question;
  question.name = "block";
  question.operation = "op";
  WriteObserver observer(question, {.wants = [](const StoppedThread &, pid_t, uint64_t) { return false; },
                                    .written = [](const StoppedThread &, pid_t, const Write &) {},
                                    .replaced = [](pid_t) {}});
  Tracer tracer(observer);
  ASSERT_TRUE(test::startTraced(tracer, MSL_FORKING_VICTIM, {"victim", "watched"}).has_value());
  EXPECT_EQ(tracer.run(), 0);
  EXPECT_GT(observer.operations(), 0u);
}

TEST_F(TracerTest, AMappingThatCannotBeGuardedIsRefused) {
  EXPECT_EQ(run(fmt::format("{} huge", MSL_MAPPING_VICTIM), true).status, 0);
  EXPECT_TRUE(refused);
}

} // namespace
} // namespace msleaks::analysis
