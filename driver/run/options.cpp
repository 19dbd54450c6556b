#include "run/options.h"

#include "run/kernel_evidence.h"
#include "run/memscope_options.h"
#include "run/signal_name.h"

#include "analysis/base/command_line.h"
#include "analysis/base/event_names.h"
#include "analysis/base/program.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <type_traits>
#include <unistd.h>

namespace msleaks::driver {
namespace {

using analysis::CommandLine;
using analysis::Shown;

// The smallest and the largest value of each flag that is a number.
template <class Number> struct Bounds {
  Number least, most;
};
#define MSL_FLAG(type, name, value, option, minimum, maximum, group, doc)                                              \
  constexpr Bounds<type> bounds_of_##name{minimum, maximum};
#include "msleaks/abi/flags.def"

constexpr char kUsage[] = "msleaks-run [options] [--] program [arguments...]";

template <class Choice> struct Named {
  std::string name;
  Choice choice;
};
template <class Choice> std::vector<Named<Choice>> choicesOf() {
  std::vector<Named<Choice>> choices;
#define MSL_VALUE(type, name, value, doc)                                                                              \
  if constexpr (std::is_same_v<Choice, abi::type>)                                                                     \
    choices.push_back({value, abi::type::name});
#include "msleaks/abi/flags.def"
  return choices;
}

template <class Choice> std::vector<std::string> namesOf() {
  std::vector<std::string> names;
  for (const Named<Choice> &each : choicesOf<Choice>())
    names.push_back(each.name);
  return names;
}

// Parses the number after the colon, as in "all:20", into `number`. Removes colon and number from `text`. Returns an
// error message, or an empty text.
template <class Number> std::string takeNumber(std::string &text, Number &number, const Bounds<Number> &bounds) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos)
    return {};
  const std::string digits = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || number < bounds.least || number > bounds.most)
    return fmt::format("{} is none of {}..{}", digits, bounds.least, bounds.most);
  text.resize(colon);
  return {};
}

// Parses the least size of blocks, as in "pages:4096". `pages` has its own default, because a user who chooses it is
// interested in smaller blocks, too.
std::string takeLeastBytes(std::string &text, uint64_t &least_bytes) {
  constexpr uint64_t kLeastWhereAsked = 65536;
  if (text == "pages")
    least_bytes = kLeastWhereAsked;
  return takeNumber(text, least_bytes, bounds_of_access_min);
}

template <class Choice> std::string takeNumberOf(std::string &text, abi::Flags &flags) {
  if constexpr (std::is_same_v<Choice, abi::CallStack>)
    return takeNumber(text, flags.call_stack_depth, bounds_of_call_stack_depth);
  else if constexpr (std::is_same_v<Choice, abi::AccessSource>)
    return takeLeastBytes(text, flags.access_min);
  else if constexpr (std::is_same_v<Choice, abi::CountLaunches>)
    return takeNumber(text, flags.cfg_launches_number, bounds_of_cfg_launches_number);
  else
    return {};
}

// Parses the value of an option with choices. Returns an error message, or an empty text.
template <class Choice> std::string choose(std::string text, abi::Flags &flags, Choice &choice) {
  if constexpr (std::is_same_v<Choice, abi::CallStack>)
    if (std::string wrong = translateCallStack(text); !wrong.empty())
      return wrong;
  if (std::string wrong = takeNumberOf<Choice>(text, flags); !wrong.empty())
    return wrong;
  for (const Named<Choice> &each : choicesOf<Choice>())
    if (text == each.name) {
      choice = each.choice;
      return {};
    }
  return fmt::format("{} is none of {}{}", text, fmt::join(namesOf<Choice>(), ", "),
                     std::is_same_v<Choice, abi::CallStack> ? ", c, python" : "");
}

template <class Choice> std::string meaningOf(std::string text) {
#define MSL_VALUE(type, name, value, doc)                                                                              \
  if constexpr (std::is_same_v<Choice, abi::type>)                                                                     \
    text += fmt::format("\n  {}: {}", value, doc);
#include "msleaks/abi/flags.def"
  return text;
}

enum class FlagGroup {
#define MSL_FLAG_GROUP(name, shown, heading) name,
#include "msleaks/abi/flags.def"
};

void addFlags(CommandLine &line, FlagGroup wanted, abi::Flags &flags) {
#define MSL_FLAG(type, name, value, option_name, minimum, maximum, group, doc)                                         \
  if (wanted == FlagGroup::group)                                                                                      \
    line.option(option_name, flags.name, doc)                                                                          \
        .between(type{minimum}, type{maximum}, fmt::format("{}..{}", minimum, maximum))                                \
        .valueName("N")                                                                                                \
        .showDefault();
#define MSL_CHOICE(type, name, value, option_name, group, doc)                                                         \
  if (wanted == FlagGroup::group)                                                                                      \
    line.optionWith(                                                                                                   \
            option_name, [&flags](const std::string &text) { return choose(text, flags, flags.name); },                \
            meaningOf<abi::type>(doc))                                                                                 \
        .suggest(namesOf<abi::type>())                                                                                 \
        .valueName("NAME")                                                                                             \
        .showDefault(abi::nameOf(abi::type::value));
#include "msleaks/abi/flags.def"
}

// Makes the paths of hook libraries absolute, and checks that the files can be read. A relative path in LD_PRELOAD
// would be wrong in another current folder. If a file is missing, the dynamic linker only prints a warning.
Result<void> findHookLibraries(RunOptions &options) {
  for (std::string &path : options.hooks) {
    std::error_code error;
    const std::filesystem::path file = std::filesystem::canonical(path, error);
    if (error || access(file.c_str(), R_OK) != 0)
      return fail(fmt::format("--hooks {}: {}", path, error ? error.message() : std::strerror(errno)),
                  ExitStatus::Usage);
    if (!analysis::canPreload(file))
      return fail(fmt::format("--hooks {}: LD_PRELOAD cannot name a path with a space or a colon", path),
                  ExitStatus::Usage);
    path = file;
  }
  return {};
}

Result<void> checkTogether(const RunOptions &options) {
  if (options.command.empty())
    return fail(fmt::format("no program given; usage: {}", kUsage), ExitStatus::Usage);
  if (options.flags.ring_kib > options.flags.ring_max_kib)
    return fail(fmt::format("--ring-kib {} is larger than --ring-max-kib {}", options.flags.ring_kib,
                            options.flags.ring_max_kib),
                ExitStatus::Usage);
  if (!std::has_single_bit(options.kernel_ring_kib))
    return fail(fmt::format("--kernel-ring-kib {} is no power of two", options.kernel_ring_kib), ExitStatus::Usage);
  return {};
}

// Values of options that are parsed after the whole command line has been read.
struct GivenTexts {
  std::string events, watch, kernel;
};

void declareRecorded(CommandLine &line, RunOptions &options, GivenTexts &texts) {
  line.option("--events", texts.events,
              fmt::format("records only these events, separated by commas [all]: {}", analysis::recordedEventNames()))
      .valueName("NAMES");
  line.option(
          "--watch", texts.watch,
          "compares the content of blocks before and after each range, launch, copy and fill. WHAT is the ADDRESS of a "
          "block, the FILE:LINE of a call that allocates, or the NAME of a watch of the program. The comparison "
          "goes from the end of the operation START to the end of END. full-content also stores each content in a file")
      .valueName("WHAT[:BYTES][,START][,END][,full-content]");
  line.option(
          "--kernel", texts.kernel,
          fmt::format("also records what the operating system does for the program: {}. After `syscalls:`, the names "
                      "or numbers of calls [all]. `msleaks collectors` lists what this machine offers",
                      fmt::join(kernel::collectorNames(), ", ")))
      .valueName("LIST");
  line.flag(
      "--cfg", options.count_sources,
      "also counts the control flow of OpenCL kernels that are given as source; each such program is compiled twice");
  line.flag("--start-paused", options.start_paused, "records nothing until `msleaks ctl RUN start`");
  line.option("--hooks", options.hooks,
              "loads a library with hooks of your own, in addition to msleaks' hooks; may be repeated")
      .oneAtATime()
      .valueName("FILE");
}

void declareEnd(CommandLine &line, RunOptions &options) {
  line.group("At the end");
  line.option("--error-exitcode", options.error_exitcode,
              "exits with this status if there are findings [the program's own status]")
      .between(1, 255, "1..255")
      .valueName("N");
  line.flag("--no-report", options.no_report, "prints no report at the end");
}

void declareWhileRunning(CommandLine &line, RunOptions &options) {
  line.group("While the program runs", Shown::InFullHelp);
  line.optionWith(
          "--toggle-signal",
          [&options](const std::string &name) {
            options.toggle_signal = signalOf(name);
            return options.toggle_signal != 0 ? std::string() : name + " is no signal that can be waited for";
          },
          "names a signal to msleaks-run that starts and stops recording, such as USR1; the program does not get it")
      .valueName("SIGNAL");
  line.option("--kernel-ring-kib", options.kernel_ring_kib, "sets the size of each ring of kernel evidence")
      .between(uint64_t{4}, uint64_t{1} << 20, "4..1048576, a power of two")
      .valueName("N")
      .showDefault();
  line.flag("--analyze-at-end", options.analyze_at_end,
            "makes the report only after the program has ended, not on idle processors while it runs");
  line.flagWith(
      "--progress", [&options] { options.progress = Progress::Shown; },
      "shows a line on the terminal while the program runs [unless stdin and stdout are that terminal too]");
  line.flagWith("--no-progress", [&options] { options.progress = Progress::Hidden; }, "never shows that line");
  line.option("--log-level", options.log_level,
              "sets the level of messages: trace, debug, info, warning, error or off [MSLEAKS_LOG, or warning]")
      .suggest({"trace", "debug", "info", "warning", "error", "off"})
      .valueName("LEVEL");
}

void declare(CommandLine &line, RunOptions &options, GivenTexts &texts) {
  line.usage(kUsage);
  line.version(fmt::format("msleaks-run {}", MSLEAKS_VERSION));
  line.option("-o,--output,--output-path", options.output,
              "names the folder for the recording, new or empty [msleaks-PROGRAM-DATE-PID]")
      .valueName("FOLDER");
#define MSL_FLAG_GROUP(name, shown, heading)                                                                           \
  line.group(heading, Shown::shown);                                                                                   \
  if (FlagGroup::name == FlagGroup::Recorded)                                                                          \
    declareRecorded(line, options, texts);                                                                             \
  addFlags(line, FlagGroup::name, options.flags);
#include "msleaks/abi/flags.def"
  declareEnd(line, options);
  declareWhileRunning(line, options);
  declareMemscope(line, options);
}

} // namespace

Result<ParsedRun> parseRun(const std::vector<std::string> &arguments) {
  ParsedRun parsed;
  RunOptions &options = parsed.options;
  GivenTexts texts;
  CommandLine line("msleaks-run",
                   "Runs a program and records where its memory goes. Its exit status is the program's own.");
  declare(line, options, texts);

  const size_t count = line.countLeadingOptions(arguments);
  options.given.assign(arguments.begin(), arguments.begin() + static_cast<ptrdiff_t>(count));
  const size_t program = count < arguments.size() && arguments[count] == "--" ? count + 1 : count;
  options.command.assign(arguments.begin() + static_cast<ptrdiff_t>(program), arguments.end());
  parsed.text = MSL_TRY(line.parse(options.given));
  if (!parsed.text.empty())
    return parsed;
  if (options.log_level == "warn") {
    options.log_level = "warning";
    options.notes.push_back("--log-level warn is deprecated: write warning");
  }
  if (line.wasGiven("--output") && options.output.empty())
    return fail("-o: the path to write to is empty: name a folder", ExitStatus::Usage);
  if (line.wasGiven("--events"))
    options.enabled = MSL_TRY(analysis::eventBits("--events", texts.events));
  options.enabled = (options.enabled & ~options.left_out) | options.needed;
  if (line.wasGiven("--kernel"))
    options.kernel = MSL_TRY(parseKernel(texts.kernel));
  if (line.wasGiven("--watch"))
    options.watch = MSL_TRY(analysis::parseWatch(texts.watch));
  MSL_TRY(findHookLibraries(options));
  MSL_TRY(checkTogether(options));
  return parsed;
}

} // namespace msleaks::driver
