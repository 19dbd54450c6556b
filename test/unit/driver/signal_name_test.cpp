#include "run/signal_name.h"

#include <csignal>
#include <gtest/gtest.h>

namespace msleaks::driver {

TEST(SignalName, TakesNamesAndNumbers) {
  EXPECT_EQ(signalOf("USR1"), SIGUSR1);
  EXPECT_EQ(signalOf("SIGUSR1"), SIGUSR1);
  EXPECT_EQ(signalOf("10"), 10);
  EXPECT_EQ(signalOf("RTMIN+2"), SIGRTMIN + 2);
  EXPECT_EQ(signalOf("SIGRTMIN+0"), SIGRTMIN);
}

TEST(SignalName, RefusesWhatIsNoSignalAsAWhole) {
  for (const char *name : {"", "SIG", "USR", "USR1 ", "SIG10", "0", "-3", "+3", "10x", "65", "RTMIN+", "RTMIN+abc",
                           "RTMIN+1x", "RTMIN+-1", "RTMIN+31", "RTMIN+2147483647", "99999999999"})
    EXPECT_EQ(signalOf(name), 0) << name;
}

TEST(SignalName, RefusesWhatNobodyCanWaitFor) {
  for (const char *name : {"KILL", "STOP", "CHLD", "9", "19"})
    EXPECT_EQ(signalOf(name), 0) << name;
}

} // namespace msleaks::driver
