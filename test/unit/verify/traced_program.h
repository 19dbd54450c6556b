// Starts a program that a tracer runs.
#pragma once

#include "analysis/base/program.h"
#include "analysis/second_run/tracer.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace msleaks::analysis::test {

// The program has called exec and runs on when this returns.
inline Launched<pid_t> startTraced(Tracer &tracer, const std::string &program, const std::vector<std::string> &command,
                                   const std::vector<std::string> &environment = environmentWithout({})) {
  SignalSetup signals{};
  sigprocmask(SIG_BLOCK, nullptr, &signals.mask);
  BeforeExec before;
  before.in_child = [&] { tracer.filterCalls(); };
  before.in_parent = [&](pid_t child) { EXPECT_TRUE(tracer.seize(child).has_value()); };
  before.meanwhile = [&] { tracer.runToExec(); };
  return startProgram(program, command, environment, signals, before);
}

} // namespace msleaks::analysis::test
