// Tests marks, ranges and owners of a program: their events are recorded, and each text gets one definition.
#include "callbacks_fixture.h"

#include "msleaks/api.h"

#include <csignal>
#include <sys/resource.h>

namespace msleaks::test {
namespace {

using Texts = std::map<uint64_t, std::string>;

// Returns the labels that a process has defined, and expects that no number is defined twice.
Texts textsOf(const ArenaFile &arena) {
  Texts texts;
  for (const Definition &definition : arena.definitions()) {
    if (definition.kind != abi::DefinitionKind::String)
      continue;
    abi::StringDefinition label;
    std::memcpy(&label, definition.body.data(), sizeof label);
    EXPECT_TRUE(texts.emplace(label.number, definition.body.substr(sizeof label)).second) << label.number;
  }
  return texts;
}

std::vector<std::string> notesOf(const ArenaFile &arena) {
  std::vector<std::string> notes;
  for (const Definition &definition : arena.definitions())
    if (definition.kind == abi::DefinitionKind::Note)
      notes.push_back(definition.body);
  return notes;
}

std::vector<uint64_t> labelsIn(const ArenaFile &arena) {
  std::vector<ReadEvent> events;
  for (uint32_t i = 0; i < arena.ringCount(); ++i)
    arena.drain(i, events);
  std::vector<uint64_t> labels;
  for (const ReadEvent &read : events)
    labels.push_back(read.event.as<abi::MarkEvent>().label);
  return labels;
}

TEST(Labels, EveryCallIsItsEvent) {
  const SessionDirectory session;
  EXPECT_EQ(
      eventsIn(session,
               [] {
                 msl_step(7);
                 msl_mark("loaded");
                 msl_range_push("forward");
                 msl_owner_push("torch@conv");
                 msl_owner_pop();
                 msl_range_pop();
                 msl_mark("loaded");
                 msl_own(reinterpret_cast<void *>(0x100), "torch@conv");
                 msl_own(nullptr, "torch@conv"); // there is no such byte
               }),
      "Step#0 7 | Mark#0 1 | RangeBegin#0 2 | OwnerPush#0 3 | OwnerPop#0 0 | RangeEnd#0 0 | Mark#0 1 | Owned#0 256+3");
  const auto arenas = session.arenas();
  EXPECT_EQ(textsOf(*arenas.at(0)), (Texts{{1, "loaded"}, {2, "forward"}, {3, "torch@conv"}}));
}

TEST(Labels, NoTextAndAnEmptyOne) {
  const SessionDirectory session;
  EXPECT_EQ(eventsIn(session,
                     [] {
                       msl_owner_push(nullptr);
                       msl_mark("");
                       msl_range_push(nullptr);
                     }),
            "OwnerPush#0 0 | Mark#0 1 | RangeBegin#0 0");
  EXPECT_EQ(textsOf(*session.arenas().at(0)), (Texts{{1, ""}}));
}

// Equal texts at different addresses get one number. If the program later changes the bytes of a text, the runtime's
// copy does not change.
TEST(Labels, TextsAreCopied) {
  const SessionDirectory session;
  EXPECT_EQ(eventsIn(session,
                     [] {
                       char text[] = "layer 1";
                       msl_mark(text);
                       text[6] = '2';
                       msl_mark(text);
                       msl_mark("layer 1");
                     }),
            "Mark#0 1 | Mark#0 2 | Mark#0 1");
  EXPECT_EQ(textsOf(*session.arenas().at(0)), (Texts{{1, "layer 1"}, {2, "layer 2"}}));
}

TEST(Labels, OnlyWhatTheSessionSelects) {
  const SessionDirectory session;
  session.control().enabled = abi::enabledBit(abi::EventKind::Step);
  EXPECT_EQ(eventsIn(session,
                     [&] {
                       msl_mark("not told");
                       msl_step(1);
                       session.control().enabled = 0;
                       msl_step(2);
                       msl_owner_push("nor this");
                       session.control().enabled = ~abi::kKernelEvidence;
                       msl_mark("told");
                     }),
            "Step#0 1 | Mark#0 1");
  EXPECT_EQ(textsOf(*session.arenas().at(0)), (Texts{{1, "told"}}));
}

TEST(Labels, AProgramAsksWhetherItIsRecorded) {
  const SessionDirectory session;
  EXPECT_EQ(eventsIn(session,
                     [&] {
                       const auto tell = [] { msl_step(msl_is_recording() != 0 ? 1 : 0); };
                       tell();
                       session.control().enabled = 0;
                       const bool stopped = msl_is_recording() == 0;
                       session.control().enabled = ~abi::kKernelEvidence;
                       msl_mark(stopped ? "stopped" : "still recording");
                       tell();
                     }),
            "Step#0 1 | Mark#0 1 | Step#0 1");
  EXPECT_EQ(textsOf(*session.arenas().at(0)), (Texts{{1, "stopped"}}));
}

// If a push was not recorded, its pop must not end the outer range or owner.
TEST(Labels, APopIsRecordedOnlyWithItsPush) {
  const SessionDirectory session;
  EXPECT_EQ(
      eventsIn(session,
               [&] {
                 msl_range_push("outer");
                 msl_owner_push("outer owner");
                 session.control().enabled = 0;
                 msl_range_push("unrecorded");
                 msl_owner_push("unrecorded owner");
                 session.control().enabled = ~abi::kKernelEvidence;
                 msl_range_push("inner");
                 msl_owner_push("inner owner");
                 msl_range_pop();
                 msl_owner_pop();
                 msl_mark("of both");
                 msl_range_pop();
                 msl_owner_pop();
                 msl_mark("of the outer ones");
                 must(runtime::innermostRange(__msl_thread)->label == 1);
                 msl_range_pop();
                 msl_owner_pop();
               }),
      "RangeBegin#0 1 | OwnerPush#0 2 | RangeBegin#0 3 | OwnerPush#0 4 | RangeEnd#0 0 | OwnerPop#0 0 | Mark#0 5 | "
      "Mark#0 6 | RangeEnd#0 0 | OwnerPop#0 0");
}

// During the pushes, the session records no range begins, but it would record range ends. Then it records both.
TEST(Labels, ARefusedPushHasNoPop) {
  const SessionDirectory session;
  session.control().enabled = ~abi::enabledBit(abi::EventKind::RangeBegin);
  EXPECT_EQ(eventsIn(session,
                     [&] {
                       for (int i = 0; i < 16; ++i)
                         msl_range_push("refused");
                       session.control().enabled = ~abi::kKernelEvidence;
                       for (int i = 0; i < 16; ++i)
                         msl_range_pop();
                       msl_range_push("recorded");
                       msl_range_pop();
                     }),
            "RangeBegin#0 1 | RangeEnd#0 0");
}

TEST(Labels, NothingWithoutASession) {
  const pid_t pid = fork();
  if (pid == 0) {
    unsetenv(abi::kSessionVariable);
    msl_step(1);
    msl_mark("nobody listens");
    _exit(__msl_process.arena == nullptr && !runtime::isEnabled(abi::EventKind::Mark) ? 0 : 1);
  }
  EXPECT_EQ(SessionDirectory::waitFor(pid), 0);
}

// A text of 4096 bytes is stored whole. A longer text is cut at the end of a character.
TEST(Labels, ALongTextIsCut) {
  const std::string most(abi::kMaxLabelBytes, 'x'), one_less(abi::kMaxLabelBytes - 1, 'x');
  const SessionDirectory session;
  EXPECT_EQ(eventsIn(session,
                     [&] {
                       msl_mark(most.c_str());
                       msl_mark((most + "y").c_str());
                       msl_mark((one_less + "\u00e9").c_str());
                       msl_mark((one_less + "\u00e9 and more").c_str());
                     }),
            "Mark#0 1 | Mark#0 1 | Mark#0 2 | Mark#0 2");
  const auto arenas = session.arenas();
  EXPECT_EQ(textsOf(*arenas.at(0)), (Texts{{1, most}, {2, one_less}}));
  EXPECT_EQ(notesOf(*arenas.at(0)).size(), 1u);
}

// There are more texts than numbers. All texts beyond the limit share one label, also in a fork's child.
TEST(Labels, TooManyTextsAreOthers) {
  constexpr uint32_t kTexts = abi::kMaxLabels + 1000;
  const SessionDirectory session({.on_full = abi::OnFull::Drop, .ring_kib = 16, .ring_max_kib = 16});
  ASSERT_EQ(session.runChild([] {
    for (uint32_t i = 1; i <= kTexts; ++i)
      msl_mark(std::to_string(i).c_str());
    if (const pid_t pid = fork(); pid != 0)
      _exit(SessionDirectory::waitFor(pid));
    for (const uint32_t i : {1u, abi::kMaxLabels, abi::kMaxLabels + 1, kTexts})
      msl_mark(std::to_string(i).c_str());
  }),
            0);
  const auto arenas = session.arenas();
  ASSERT_EQ(arenas.size(), 2u);
  const bool child_first = arenas[0]->header().ancestor_pid != 0;
  const ArenaFile &parent = *arenas[child_first ? 1 : 0], &child = *arenas[child_first ? 0 : 1];
  Texts texts = textsOf(parent);
  ASSERT_EQ(texts.size(), abi::kMaxLabels + 1u);
  EXPECT_EQ(texts[abi::kOtherLabel], "(other)");
  for (uint32_t i = 1; i <= abi::kMaxLabels; ++i)
    ASSERT_EQ(texts[i], std::to_string(i));
  EXPECT_EQ(notesOf(parent).size(), 1u);
  EXPECT_TRUE(child.definitions().empty());
  EXPECT_EQ(labelsIn(child), (std::vector<uint64_t>{1, abi::kMaxLabels, abi::kOtherLabel, abi::kOtherLabel}));
}

TEST(Labels, TooLongTextsAreOthers) {
  constexpr uint32_t kTexts = abi::kMaxLabelsBytes / abi::kMaxLabelBytes + 10;
  const SessionDirectory session({.on_full = abi::OnFull::Drop, .ring_kib = 16, .ring_max_kib = 16});
  ASSERT_EQ(session.runChild([] {
    std::string text(abi::kMaxLabelBytes - 1, ' ');
    for (uint32_t i = 0; i < kTexts; ++i) {
      text.replace(0, 6, std::to_string(100'000 + i));
      msl_mark(text.c_str());
    }
  }),
            0);
  const Texts texts = textsOf(*session.arenas().at(0));
  EXPECT_EQ(texts.count(abi::kOtherLabel), 1u);
  EXPECT_GT(texts.size(), abi::kMaxLabelsBytes / abi::kMaxLabelBytes - 2);
  EXPECT_LT(texts.size(), kTexts);
}

TEST(Labels, ThreadsAgree) {
  constexpr uint32_t kThreads = 4, kTexts = 500;
  const SessionDirectory session({.ring_kib = 256});
  ASSERT_EQ(session.runChild([] {
    std::atomic<uint32_t> ready{0};
    std::vector<std::thread> threads;
    for (uint32_t t = 0; t < kThreads; ++t)
      threads.emplace_back([&ready] {
        ++ready;
        while (ready < kThreads) {
        }
        for (uint32_t i = 0; i < kTexts; ++i)
          msl_mark(("text " + std::to_string(i)).c_str());
      });
    for (std::thread &thread : threads)
      thread.join();
  }),
            0);
  const auto arenas = session.arenas();
  Texts texts = textsOf(*arenas.at(0));
  EXPECT_EQ(texts.size(), kTexts);
  std::map<uint32_t, uint32_t> next; // number of the next text, by stream
  for (const ReadEvent &read : session.drain())
    EXPECT_EQ(texts[read.event.as<abi::MarkEvent>().label], "text " + std::to_string(next[read.stream]++));
  EXPECT_EQ(next.size(), kThreads);
}

// A fork's child inherits its parent's labels. After the fork, parent and child may assign the same number to different
// labels.
TEST(Labels, AForkedChildGoesOn) {
  const SessionDirectory session;
  ASSERT_EQ(session.runChild([] {
    msl_mark("both");
    const pid_t pid = fork();
    if (pid != 0)
      must(SessionDirectory::waitFor(pid) == 0);
    msl_mark(pid == 0 ? "child" : "parent");
    msl_mark("both");
  }),
            0);
  const auto arenas = session.arenas();
  ASSERT_EQ(arenas.size(), 2u);
  for (const auto &arena : arenas) {
    const bool child = arena->header().ancestor_pid != 0;
    EXPECT_EQ(textsOf(*arena), (child ? Texts{{2, "child"}} : Texts{{1, "both"}, {2, "parent"}}));
    EXPECT_EQ(labelsIn(*arena), (child ? std::vector<uint64_t>{2, 1} : std::vector<uint64_t>{1, 2, 1}));
  }
}

// The child must not wait for a lock that a thread of the parent held. It must not assign a number twice, or use a
// number without a text.
TEST(Labels, ForkWhileAnotherThreadNamesTexts) {
  constexpr uint32_t kForks = 30;
  const SessionDirectory session({.on_full = abi::OnFull::Drop, .ring_kib = 16, .ring_max_kib = 16});
  ASSERT_EQ(session.runChild([] {
    msl_mark("0"); // attaches the process to its session
    std::atomic<bool> stop{false};
    std::thread naming([&stop] {
      for (uint32_t i = 0; !stop; ++i)
        msl_mark(std::to_string(i % 60'000).c_str());
    });
    for (uint32_t i = 0; i < kForks; ++i) {
      const pid_t pid = fork();
      if (pid == 0) {
        alarm(20);
        msl_mark(("of child " + std::to_string(i)).c_str());
        msl_mark("0");
        syscall(SYS_exit_group, 0); // at a normal exit, ThreadSanitizer would report the parent's thread
      }
      must(SessionDirectory::waitFor(pid) == 0);
    }
    stop = true;
    naming.join();
  }),
            0);
  Texts parent;
  for (const auto &arena : session.arenas())
    if (arena->header().ancestor_pid == 0)
      parent = textsOf(*arena);
  uint32_t children = 0;
  for (const auto &arena : session.arenas()) {
    if (arena->header().ancestor_pid == 0)
      continue;
    ++children;
    Texts texts = parent;
    for (const auto &[number, text] : textsOf(*arena))
      texts[number] = text;
    const auto labels = labelsIn(*arena);
    ASSERT_EQ(labels.size(), 2u);
    EXPECT_EQ(texts[labels[0]].substr(0, 9), "of child ");
    EXPECT_EQ(texts[labels[1]], "0");
  }
  EXPECT_EQ(children, kForks);
}

// A text that cannot be defined has no number, but its events are still recorded. After about a thousand more events,
// the runtime tries again to define the text.
TEST(Labels, ARefusedDefinitionIsTriedAgainLater) {
  const SessionDirectory session;
  ASSERT_EQ(session.runChild([] {
    msl_step(0);
    rlimit usual{};
    getrlimit(RLIMIT_NOFILE, &usual);
    const rlimit none{0, usual.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    msl_mark("a");
    setrlimit(RLIMIT_NOFILE, &usual);
    for (int i = 0; i < 1025; ++i)
      msl_mark("a");
  }),
            0);
  const auto arenas = session.arenas();
  EXPECT_EQ(arenas.at(0)->header().definitions_refused, 1u);
  EXPECT_EQ(textsOf(*arenas[0]), (Texts{{1, "a"}}));
  auto labels = labelsIn(*arenas[0]);
  ASSERT_EQ(labels.size(), 1027u);
  EXPECT_EQ(std::count(labels.begin() + 1, labels.end(), 1), 1);
  EXPECT_EQ(labels.back(), 1u);
}

// Without a collector and without room in memory, the runtime defines no text. It defines texts again when another
// collector takes over.
TEST(Labels, WithoutACollectorEventsCount) {
  const SessionDirectory session;
  session.loseCollectorAndRoom();
  ASSERT_EQ(session.runChild([&] {
    msl_step(0); // makes the process find its session
    msl_mark("lost");
    session.findCollector();
    session.unseen().orphan_kib = 0;
    for (int i = 0; i < 3000; ++i)
      msl_mark("told");
  }),
            0);
  const auto arenas = session.arenas();
  ASSERT_EQ(arenas.size(), 1u);
  EXPECT_EQ(textsOf(*arenas[0]), (Texts{{1, "told"}}));
  EXPECT_GE(session.unseen().dropped, 2u);
}

// A signal handler uses new texts at any moment, also while the interrupted code uses new texts. Each event of the
// interrupted code must have the right text.
TEST(Labels, SignalHandlersNameTexts) {
  const SessionDirectory session({.on_full = abi::OnFull::Drop, .ring_kib = 1024});
  ASSERT_EQ(session.runChild([] {
    static std::atomic<uint32_t> in_handler{0};
    struct sigaction action{};
    action.sa_handler = [](int) {
      char text[16];
      std::snprintf(text, sizeof text, "h%u", in_handler++ % 1000);
      msl_mark(text);
    };
    sigaction(SIGUSR1, &action, nullptr);
    const pthread_t main = pthread_self();
    std::atomic<bool> stop{false};
    std::thread sender([&] {
      for (; !stop; usleep(20))
        pthread_kill(main, SIGUSR1);
    });
    for (uint32_t i = 0; i < 5000; ++i)
      msl_mark(("m" + std::to_string(i)).c_str());
    stop = true;
    sender.join();
    must(in_handler > 0);
  }),
            0);
  const auto arenas = session.arenas();
  Texts texts = textsOf(*arenas.at(0));
  uint32_t next = 0;
  for (const uint64_t label : labelsIn(*arenas[0]))
    if (const std::string &text = texts[label]; !text.starts_with('h')) {
      EXPECT_EQ(text, "m" + std::to_string(next++));
    }
  EXPECT_EQ(next, 5000u);
}

} // namespace
} // namespace msleaks::test
