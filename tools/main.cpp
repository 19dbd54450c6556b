// The program msleaks. Most of its verbs show or check what msleaks-run has recorded: `msleaks VERB RUN`.
#include "analysis/base/log.h"
#include "verb.h"

#include <csignal>
#include <exception>
#include <iostream>

namespace msleaks::tools {
namespace {

int complain(const std::string &message, ExitStatus status) {
  std::cerr << "msleaks: " << message << '\n';
  return static_cast<int>(status);
}

int finish(ExitStatus status) {
  if (!std::cout.flush())
    return complain("the output could not be written", ExitStatus::OwnFault);
  return static_cast<int>(status);
}

int run(const std::vector<std::string> &arguments) {
  CommandLine line("msleaks", "Looks at what msleaks-run recorded, and at what the compiler plugin marked.");
  line.version("msleaks " MSLEAKS_VERSION);
  std::string level;
  line.option("--log-level", level,
              "sets the level of messages: trace, debug, info, warning, error or off [MSLEAKS_LOG, or warning]")
      .suggest({"trace", "debug", "info", "warning", "error", "off"});
  Action chosen;
  for (const Verb &verb : makeVerbs()) {
    const auto action = std::make_shared<Action>();
    *action = verb.declare(line.command(verb.name, verb.summary, [&chosen, action] { chosen = *action; }));
  }

  const Result<std::string> text = line.parse(arguments);
  if (!text)
    return complain(text.error().message, text.error().status);
  // If the reader of the output ends early (`| head`), SIGPIPE must end msleaks without a message, even if the parent
  // ignores the signal. The verb `run` (passedOn) must not change the signal's action, which the program inherits.
  if (!line.passedOn())
    std::signal(SIGPIPE, SIG_DFL);
  if (!text->empty()) {
    std::cout << *text;
    return finish(ExitStatus::Clean);
  }
  if (!chosen)
    return complain("no verb is given; see msleaks --help", ExitStatus::Usage);
  if (const Result<void> log = analysis::startLog("msleaks", level); !log)
    return complain(log.error().message, log.error().status);
  const Result<ExitStatus> status = chosen();
  if (!status)
    return complain(status.error().message, status.error().status);
  return finish(*status);
}

} // namespace
} // namespace msleaks::tools

int main(int count, char **arguments) {
  using namespace msleaks;
  try {
    return tools::run({arguments + std::min(count, 1), arguments + count});
  } catch (const std::bad_alloc &) {
    return tools::complain("out of memory", ExitStatus::OwnFault);
  } catch (const std::exception &error) {
    return tools::complain(std::string("a fault of msleaks itself: ") + error.what(), ExitStatus::OwnFault);
  }
}
