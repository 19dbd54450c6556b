#include "run/options.h"

#include "run/signal_name.h"

#include "analysis/base/event_names.h"
#include "analysis/launch/program.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <type_traits>
#include <unistd.h>

namespace msleaks::driver {
namespace {

// The bounds of the numbers among the flags.
template <class Number> struct Bounds {
  Number least, most;
};
#define MSL_FLAG(type, name, value, option, minimum, maximum, doc)                                                     \
  constexpr Bounds<type> bounds_of_##name{minimum, maximum};
#include "msleaks/abi/flags.def"

constexpr char kUsage[] = "msleaks-run [options] [--] program [arguments...]";

class HelpFormatter : public CLI::Formatter {
public:
  std::string make_usage(const CLI::App *, std::string) const override { return fmt::format("Usage: {}\n", kUsage); }
};

template <class Choice> Choice valueOf(const std::string &option, const std::string &text) {
  std::vector<std::string> names;
#define MSL_VALUE(type, name, value, doc)                                                                              \
  if constexpr (std::is_same_v<Choice, abi::type>) {                                                                   \
    names.emplace_back(value);                                                                                         \
    if (text == value)                                                                                                 \
      return abi::type::name;                                                                                          \
  }
#include "msleaks/abi/flags.def"
  throw CLI::ValidationError(option, fmt::format("{} is none of {}", text, fmt::join(names, ", ")));
}

// "all:20": what stands behind the colon, into `number`.
template <class Number>
std::string withoutNumber(const char *option, const std::string &text, Number &number, const Bounds<Number> &bounds) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos)
    return text;
  const std::string digits = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || number < bounds.least || number > bounds.most)
    throw CLI::ValidationError(option, fmt::format("{} is none of {}..{}", digits, bounds.least, bounds.most));
  return text.substr(0, colon);
}

// The value's name, without what stands behind a colon.
template <class Choice> std::string nameIn(const char *option, const std::string &text, abi::Flags &flags) {
  if constexpr (std::is_same_v<Choice, abi::CallStack>)
    return withoutNumber(option, text, flags.call_stack_depth, bounds_of_call_stack_depth);
  else if constexpr (std::is_same_v<Choice, abi::AccessSource>)
    return withoutNumber(option, text, flags.access_min, bounds_of_access_min);
  else if constexpr (std::is_same_v<Choice, abi::CountLaunches>)
    return withoutNumber(option, text, flags.cfg_launches_number, bounds_of_cfg_launches_number);
  else
    return text;
}

template <class Choice> std::string meaningOf(std::string text) {
#define MSL_VALUE(type, name, value, doc)                                                                              \
  if constexpr (std::is_same_v<Choice, abi::type>)                                                                     \
    text += fmt::format("\n  {}: {}", value, doc);
#include "msleaks/abi/flags.def"
  return text;
}

void addFlags(CLI::App &app, abi::Flags &flags) {
#define MSL_FLAG(type, name, value, option, minimum, maximum, doc)                                                     \
  app.add_option(option, flags.name, doc)                                                                              \
      ->check(CLI::Range(type{minimum}, type{maximum}).description(fmt::format("{}..{}", minimum, maximum)))           \
      ->type_name("N")                                                                                                 \
      ->capture_default_str();
#define MSL_CHOICE(type, name, value, option, doc)                                                                     \
  app.add_option_function<std::string>(                                                                                \
         option,                                                                                                       \
         [&flags](const std::string &text) {                                                                           \
           flags.name = valueOf<abi::type>(option, nameIn<abi::type>(option, text, flags));                            \
         },                                                                                                            \
         meaningOf<abi::type>(doc))                                                                                    \
      ->type_name("NAME")                                                                                              \
      ->default_str(abi::nameOf(abi::type::value));
#include "msleaks/abi/flags.def"
}

// Number of leading arguments that are ours.
size_t countOptions(const CLI::App &app, const std::vector<std::string> &arguments) {
  size_t at = 0;
  while (at < arguments.size()) {
    const std::string &word = arguments[at];
    if (word.size() < 2 || word[0] != '-' || word == "--")
      break;
    const CLI::Option *option = app.get_option_no_throw(word);
    at += option && option->get_items_expected_max() > 0 ? 2 : 1;
  }
  return std::min(at, arguments.size());
}

// LD_PRELOAD takes no relative path in another folder, and the dynamic linker only warns about a missing file.
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
  return {};
}

} // namespace

Result<ParsedRun> parseRun(const std::vector<std::string> &arguments) {
  ParsedRun parsed;
  RunOptions &options = parsed.options;
  CLI::App app("Runs a program and records where its memory goes. Its exit status is the program's own.",
               "msleaks-run");
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_version_flag("--version", fmt::format("msleaks-run {}", MSLEAKS_VERSION));
  app.add_option("-o,--output", options.output, "folder for the recording, new or empty [msleaks-PROGRAM-DATE-PID]")
      ->type_name("FOLDER");
  std::string events;
  app.add_option("--events", events,
                 fmt::format("what to record, separated by commas [all]: {}", analysis::eventNames()))
      ->type_name("NAMES");
  addFlags(app, options.flags);
  std::string watch;
  app.add_option(
         "--watch", watch,
         "blocks whose content is compared before and after each range, launch, copy and fill: what is allocated "
         "at ADDRESS or by a call at FILE:LINE, or what the program watches as NAME; from the end of the "
         "operation START to that of END; full-content: keeps what they hold in files, too")
      ->type_name("WHAT[:BYTES][,START][,END][,full-content]");
  app.add_flag(
      "--cfg", options.count_sources,
      "count the kernels of OpenCL programs that are given as source, too: each such program is compiled once more");
  app.add_flag("--start-paused", options.start_paused, "record nothing until `msleaks ctl RUN start`");
  app.add_option_function<std::string>(
         "--toggle-signal", [&options](const std::string &name) { options.toggle_signal = signalOf(name); },
         "a signal to msleaks-run that starts and stops recording, such as USR1; it is not passed on then")
      ->check([](const std::string &name) {
        return signalOf(name) != 0 ? std::string() : name + " is no signal that can be waited for";
      })
      ->type_name("SIGNAL");
  app.add_option("--error-exitcode", options.error_exitcode,
                 "exit status when there are findings, instead of the program's own")
      ->check(CLI::Range(1, 255).description("1..255"))
      ->type_name("N");
  app.add_option("--hooks", options.hooks, "a library with hooks of your own, loaded behind msleaks'; may be repeated")
      ->allow_extra_args(false)
      ->type_name("FILE");
  app.add_flag("--analyze-at-end", options.analyze_at_end,
               "read what was recorded when the program has ended, not while it runs on idle processors");
  app.add_flag("--no-report", options.no_report, "print no report at the end");
  app.add_flag_callback(
      "--progress", [&options] { options.progress = Progress::Shown; },
      "show a line on the terminal while the program runs [unless stdin and stdout are that terminal too]");
  app.add_flag_callback("--no-progress", [&options] { options.progress = Progress::Hidden; }, "never show that line");
  app.add_option("--log-level", options.log_level,
                 "trace, debug, info, warning, error or off [MSLEAKS_LOG, or warning]")
      ->type_name("LEVEL");

  const size_t count = countOptions(app, arguments);
  options.given.assign(arguments.begin(), arguments.begin() + static_cast<ptrdiff_t>(count));
  const size_t program = count < arguments.size() && arguments[count] == "--" ? count + 1 : count;
  options.command.assign(arguments.begin() + static_cast<ptrdiff_t>(program), arguments.end());
  try {
    app.parse(std::vector<std::string>(options.given.rbegin(), options.given.rend())); // CLI11 takes them last first
  } catch (const CLI::CallForHelp &) {
    parsed.text = app.help();
    return parsed;
  } catch (const CLI::CallForVersion &version) {
    parsed.text = fmt::format("{}\n", version.what());
    return parsed;
  } catch (const CLI::ParseError &error) {
    return fail(fmt::format("{}; see msleaks-run --help", error.what()), ExitStatus::Usage);
  }
  if (app.count("--output") > 0 && options.output.empty())
    return fail("-o: the path to write to is empty: name a folder", ExitStatus::Usage);
  if (app.count("--events") > 0) {
    const auto enabled = MSL_TRY(analysis::eventBits("--events", events));
    options.enabled = enabled;
  }
  if (app.count("--watch") > 0) {
    const auto wanted = MSL_TRY(analysis::parseWatch(watch));
    options.watch = wanted;
  }
  MSL_TRY(findHookLibraries(options));
  MSL_TRY(checkTogether(options));
  return parsed;
}

} // namespace msleaks::driver
