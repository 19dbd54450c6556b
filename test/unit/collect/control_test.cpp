// Tests the recording switch, the control socket and the changeable settings of a session.
#include "arena_maker.h"
#include "collected.h"

#include "analysis/collect/control_socket.h"
#include "analysis/collect/recording_switch.h"
#include "analysis/collect/session_settings.h"
#include "msleaks/abi/selected_events.h"

#include <new>
#include <thread>

namespace msleaks::test {
namespace {

using analysis::RecordingSwitch;

class ControlTest : public testing::Test {
protected:
  ControlTest() : writer(*analysis::TraceWriter::create(folder / "trace.mslt")) {
    control.enabled = control.selected = ~0u;
  }
  std::vector<abi::EpochEvent> epochs() {
    EXPECT_TRUE(writer.close());
    std::vector<abi::EpochEvent> list;
    for (const auto &event : CollectedTrace(folder / "trace.mslt").events)
      if (event.process == analysis::kSessionProcess && event.event.header().kind == abi::EventKind::Epoch)
        list.push_back(event.event.as<abi::EpochEvent>());
    return list;
  }

  ScratchFolder folder;
  analysis::TraceWriter writer;
  alignas(abi::ControlPage) char page[abi::kHeaderBytes]{};
  abi::ControlPage &control = *new (page) abi::ControlPage{};
};

TEST_F(ControlTest, EachChangeIsAnEpoch) {
  auto taken = RecordingSwitch::take(control, writer);
  ASSERT_TRUE(taken);
  EXPECT_TRUE(taken->recording());
  EXPECT_TRUE(taken->start(writer)) << "it records already: nothing changes";
  EXPECT_TRUE(taken->stop(writer));
  EXPECT_EQ(control.enabled.load(), 0u);
  EXPECT_TRUE(taken->select(writer, 3)) << "while it is stopped: later";
  EXPECT_TRUE(taken->start(writer));
  EXPECT_EQ(control.enabled.load(), 3u);
  EXPECT_TRUE(taken->select(writer, 1));
  EXPECT_EQ(taken->stored(), 3u);
  const auto list = epochs();
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0].number, 2u);
  EXPECT_EQ(list[0].enabled, 0u);
  EXPECT_EQ(list[1].number, 3u);
  EXPECT_EQ(list[1].enabled, 3u);
  EXPECT_EQ(list[2].number, 5u) << "odd ones record";
  EXPECT_EQ(list[2].enabled, 1u);
}

TEST_F(ControlTest, ASessionThatStartsPausedSaysSo) {
  control.enabled = 0;
  ASSERT_TRUE(RecordingSwitch::take(control, writer));
  const auto list = epochs();
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].number, 2u);
}

// Without the host, the common word has no blocks. It is not 0, since processes would take 0 for a stopped session.
TEST_F(ControlTest, ChosenDevicesAreAnEpoch) {
  constexpr uint32_t kBlocks = abi::enabledBit(abi::EventKind::Alloc) | abi::enabledBit(abi::EventKind::Free);
  chosenDevicesOf(control).is_restricted = true;
  chosenDevicesOf(control).accelerators = 1;
  abi::enable(control, kBlocks);
  EXPECT_EQ(control.enabled.load() & kBlocks, 0u);
  EXPECT_NE(control.enabled.load(), 0u);
  EXPECT_EQ(abi::eventsOf(control), kBlocks);
  auto taken = RecordingSwitch::take(control, writer);
  ASSERT_TRUE(taken);
  EXPECT_TRUE(taken->recording());
  EXPECT_TRUE(taken->stop(writer));
  EXPECT_EQ(control.enabled.load(), 0u);
  EXPECT_FALSE(taken->recording());
  chosenDevicesOf(control).host = true;
  EXPECT_TRUE(taken->start(writer));
  EXPECT_EQ(control.enabled.load(), ~0u);
  const auto list = epochs();
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0].enabled, abi::enabledBit(abi::EventKind::Free)) << "blocks may be allocated unseen";
}

// If steps are chosen, an Epoch says from the beginning that blocks may be allocated unseen. Frees are always recorded.
TEST_F(ControlTest, ChosenStepsAreAnEpoch) {
  chosenStepsOf(control).count = 1;
  auto taken = RecordingSwitch::take(control, writer);
  ASSERT_TRUE(taken);
  EXPECT_TRUE(taken->stop(writer));
  EXPECT_EQ(chosenStepsOf(control).outside.load(), 0u);
  EXPECT_EQ(chosenStepsOf(control).before.load(), 0u);
  EXPECT_TRUE(taken->start(writer));
  EXPECT_EQ(control.enabled.load(), ~0u);
  EXPECT_EQ(chosenStepsOf(control).outside.load(), abi::outsideOf(~0u));
  const auto list = epochs();
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0].number, 1u);
  EXPECT_EQ(list[0].enabled & abi::enabledBit(abi::EventKind::Alloc), 0u);
  EXPECT_NE(list[0].enabled & abi::enabledBit(abi::EventKind::Free), 0u);
  EXPECT_EQ(list[1].enabled, 0u);
  EXPECT_EQ(list[2].enabled, list[0].enabled);
}

TEST_F(ControlTest, AChangeThatACollectorDidNotLiveToStoreIsStored) {
  ASSERT_TRUE(RecordingSwitch::take(control, writer));
  control.epoch = 2;
  control.enabled = 0;
  const auto taken = RecordingSwitch::take(control, writer);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->stored(), 1u);
  EXPECT_EQ(epochs().size(), 1u);
}

TEST_F(ControlTest, SettingsAreTheOptionsOfTheTable) {
  EXPECT_TRUE(analysis::changeSetting(control, "on-full", "drop"));
  EXPECT_EQ(control.flags.on_full, abi::OnFull::Drop);
  EXPECT_TRUE(analysis::changeSetting(control, "ring-kib", "64"));
  EXPECT_EQ(control.flags.ring_kib, 64u);
  const abi::Flags before = control.flags;
  const std::pair<const char *, const char *> wrong[] = {{"ring-kib", "1"}, {"ring-kib", "9000"}, {"ring-kib", "64k"},
                                                         {"ring-kib", ""},  {"on-full", "later"}, {"x", "1"}};
  for (const auto &[name, value] : wrong) {
    const auto changed = analysis::changeSetting(control, name, value);
    ASSERT_FALSE(changed) << name << value;
    EXPECT_EQ(changed.error().status, ExitStatus::Usage);
  }
  EXPECT_EQ(analysis::changeSetting(control, "on-full", "overwrite").error().status, ExitStatus::OwnFault);
  EXPECT_EQ(control.flags.ring_kib, before.ring_kib);
  EXPECT_EQ(control.flags.on_full, before.on_full);
}

TEST_F(ControlTest, ASocketCarriesQuestionsAndAnswers) {
  auto socket = analysis::ControlSocket::listen(folder.path());
  ASSERT_TRUE(socket) << socket.error().message;
  EXPECT_TRUE(socket->wait(0).empty());
  std::thread client([this] {
    const auto answer = analysis::askSession(folder.path(), "status");
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->text, "fine");
    EXPECT_EQ(answer->status, ExitStatus::OwnFault);
  });
  std::vector<analysis::ControlRequest> requests;
  while (requests.empty())
    requests = socket->wait(1'000'000);
  EXPECT_EQ(requests[0].text, "status");
  requests[0].answer({ExitStatus::OwnFault, "fine"});
  client.join();
}

TEST_F(ControlTest, WithoutACollectorThereIsNobodyToAsk) {
  EXPECT_EQ(analysis::askSession(folder.path(), "status").error().status, ExitStatus::BadInput);
  ASSERT_TRUE(analysis::ControlSocket::listen(folder.path())); // this socket closes at once, but its file name remains
  EXPECT_EQ(analysis::askSession(folder.path(), "status").error().status, ExitStatus::BadInput);
  EXPECT_TRUE(analysis::ControlSocket::listen(folder.path())) << "the next one takes the name";
}

TEST_F(ControlTest, ALongPathIsNoHindrance) {
  const auto deep = folder.path() / std::string(200, 'd');
  std::filesystem::create_directory(deep);
  EXPECT_TRUE(analysis::ControlSocket::listen(deep));
}

} // namespace
} // namespace msleaks::test
