#include "analysis/base/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <deque>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace msleaks::analysis::inline base {

using Json = nlohmann::ordered_json;

struct DeclaredOption {
  CLI::Option *option;
  std::string group;
  Shown shown;
  std::vector<std::string> choices;
  std::string first_of_two = {}; // if the value is this word, the next word belongs to it
};

namespace {

constexpr char kFullHelp[] = "--help-all";
// No program declares this option. With it, a script of the build asks for all declarations as JSON.
constexpr char kDescribe[] = "--describe-options";

class UsageFormatter : public CLI::Formatter {
public:
  explicit UsageFormatter(std::string usage) : usage_(std::move(usage)) {}
  std::string make_usage(const CLI::App *, std::string) const override { return fmt::format("Usage: {}\n", usage_); }

private:
  std::string usage_;
};

Json namesOf(const CLI::Option &option) {
  Json names = Json::array();
  for (const std::string &name : option.get_snames())
    names.push_back("-" + name);
  for (const std::string &name : option.get_lnames())
    names.push_back("--" + name);
  return names;
}

Json describe(const CLI::Option &option, const std::string &group, const std::vector<std::string> &choices) {
  const bool takes_value = option.get_items_expected_max() > 0;
  return {{"names", namesOf(option)},
          {"word", option.get_name(true, false)},
          {"doc", option.get_description()},
          {"value", takes_value ? Json(option.get_type_name()) : Json()},
          {"default", option.get_default_str()},
          {"required", option.get_required()},
          {"many", option.get_expected_max() > 1},
          {"group", group},
          {"choices", choices}};
}

} // namespace

struct CommandLine::Declarations {
  std::unique_ptr<CLI::App> owned; // only the program owns one; CLI11 owns the app of a command
  CLI::App *app;
  std::deque<DeclaredOption> options; // a deque, because each Option points to its element
  std::vector<std::unique_ptr<CommandLine>> commands;
  std::string group = "Options", usage;
  Shown shown = Shown::Always;
  std::vector<std::string> *rest = nullptr;
  bool passed_on = false;

  Option add(CLI::Option *option) {
    option->group(group);
    options.push_back({option, group, shown, {}, {}});
    return Option(options.back());
  }

  bool hasMoreInFullHelp() const {
    return std::any_of(options.begin(), options.end(),
                       [](const DeclaredOption &declared) { return declared.shown == Shown::InFullHelp; });
  }

  // Removes the options that only --help-all shows: CLI11 does not print an option without a group.
  void shorten() {
    for (const DeclaredOption &declared : options)
      if (declared.shown == Shown::InFullHelp)
        declared.option->group("");
    for (const auto &command : commands)
      command->own_->shorten();
    if (hasMoreInFullHelp())
      app->footer(fmt::format("More options: {} {}", fullName(), kFullHelp));
    else if (app->get_parent())
      app->set_help_all_flag();
  }

  std::string fullName() const {
    const CLI::App *parent = app->get_parent();
    return parent ? parent->get_name() + " " + app->get_name() : app->get_name();
  }

  Json described() const {
    Json json = {{"name", app->get_name()}, {"summary", app->get_description()}, {"usage", usage}};
    json["passes_on"] = rest != nullptr;
    json["options"] = Json::array();
    std::vector<const CLI::Option *> known;
    for (const DeclaredOption &declared : options) {
      json["options"].push_back(describe(*declared.option, declared.group, declared.choices));
      known.push_back(declared.option);
    }
    for (const CLI::Option *option : app->get_options()) // adds CLI11's own: --help and --version
      if (std::find(known.begin(), known.end(), option) == known.end())
        json["options"].push_back(describe(*option, "Options", {}));
    json["commands"] = Json::array();
    for (const auto &command : commands)
      json["commands"].push_back(command->own_->described());
    return json;
  }

  // Whether `option` is an option, and `word` is the first of the two words of its value.
  bool hasSecondWord(const std::string &option, const std::string &word) const {
    const auto isTheirs = [&](const DeclaredOption &declared) {
      return !declared.first_of_two.empty() && declared.first_of_two == word && declared.option->check_name(option);
    };
    return std::any_of(options.begin(), options.end(), isTheirs) ||
           std::any_of(commands.begin(), commands.end(),
                       [&](const auto &command) { return command->own_->hasSecondWord(option, word); });
  }

  // Joins the two words of such a value to one word.
  void joinValues(std::vector<std::string> &words) const {
    for (size_t i = 0; i + 2 < words.size() && words[i] != "--"; ++i)
      if (words[i].starts_with("--") && words[i + 2] != "--" && hasSecondWord(words[i], words[i + 1])) {
        words[i + 1] += " " + words[i + 2];
        words.erase(words.begin() + static_cast<ptrdiff_t>(i) + 2);
      }
  }

  // If the argument at this position is a command that passes arguments on, returns this command.
  Declarations *passingOn(const std::vector<std::string> &arguments, size_t at) const {
    for (const auto &command : commands)
      if (at < arguments.size() && command->own_->rest && command->own_->app->get_name() == arguments[at])
        return command->own_.get();
    return nullptr;
  }
};

CommandLine::CommandLine(const std::string &program, const std::string &summary)
    : own_(std::make_unique<Declarations>()) {
  own_->owned = std::make_unique<CLI::App>(summary, program);
  own_->app = own_->owned.get();
  own_->app->set_help_all_flag(kFullHelp, "Print this message with all options and exit");
  own_->app->fallthrough(); // a program's option may also come after the command
}

CommandLine::CommandLine(std::unique_ptr<Declarations> declarations) : own_(std::move(declarations)) {}
CommandLine::~CommandLine() = default;

void CommandLine::version(const std::string &text) { own_->app->set_version_flag("--version", text); }

void CommandLine::usage(const std::string &text) {
  own_->usage = text;
  own_->app->formatter(std::make_shared<UsageFormatter>(text));
}

void CommandLine::group(const std::string &name, Shown shown) {
  own_->group = name;
  own_->shown = shown;
}

template <class Value> Option CommandLine::option(const std::string &names, Value &value, const std::string &doc) {
  return own_->add(own_->app->add_option(names, value, doc));
}

#define MSL_VALUE_OF_OPTION(...)                                                                                       \
  template Option CommandLine::option(const std::string &, __VA_ARGS__ &, const std::string &);
MSL_VALUE_OF_OPTION(std::string)
MSL_VALUE_OF_OPTION(std::optional<std::string>)
MSL_VALUE_OF_OPTION(std::vector<std::string>)
MSL_VALUE_OF_OPTION(int)
MSL_VALUE_OF_OPTION(double)
MSL_VALUE_OF_OPTION(uint32_t)
MSL_VALUE_OF_OPTION(uint64_t)
MSL_VALUE_OF_OPTION(std::optional<uint32_t>)
MSL_VALUE_OF_OPTION(std::optional<uint64_t>)
#undef MSL_VALUE_OF_OPTION

Option CommandLine::optionWith(const std::string &names, std::function<std::string(const std::string &)> take,
                               const std::string &doc) {
  const auto taken = [names, take = std::move(take)](const std::string &text) {
    if (const std::string wrong = take(text); !wrong.empty())
      throw CLI::ValidationError(names, wrong);
  };
  return own_->add(own_->app->add_option_function<std::string>(names, taken, doc));
}

Option CommandLine::flag(const std::string &names, bool &value, const std::string &doc) {
  return own_->add(own_->app->add_flag(names, value, doc));
}

Option CommandLine::flagWith(const std::string &names, std::function<void()> take, const std::string &doc) {
  return own_->add(own_->app->add_flag_callback(names, std::move(take), doc));
}

CommandLine &CommandLine::command(const std::string &name, const std::string &summary, std::function<void()> chosen) {
  auto declarations = std::make_unique<Declarations>();
  declarations->app = own_->app->add_subcommand(name, summary);
  declarations->app->callback(std::move(chosen));
  own_->commands.push_back(std::unique_ptr<CommandLine>(new CommandLine(std::move(declarations))));
  return *own_->commands.back();
}

void CommandLine::requireCommand() { own_->app->require_subcommand(1); }

void CommandLine::passOn(std::vector<std::string> &rest) { own_->rest = &rest; }

bool CommandLine::passedOn() const { return own_->passed_on; }

Result<std::string> CommandLine::parse(const std::vector<std::string> &arguments) {
  CLI::App &app = *own_->app;
  if (arguments == std::vector<std::string>{kDescribe})
    return own_->described().dump(1) + "\n";
  std::vector<std::string> read = arguments;
  const size_t at = countLeadingOptions(arguments);
  if (const Declarations *command = own_->passingOn(arguments, at)) {
    *command->rest = arguments;
    command->rest->erase(command->rest->begin() + static_cast<ptrdiff_t>(at));
    read.resize(at + 1);
    own_->passed_on = true;
  }
  own_->joinValues(read);
  std::reverse(read.begin(), read.end()); // CLI11 expects the last argument first
  try {
    app.parse(std::move(read));
  } catch (const CLI::CallForHelp &) {
    own_->shorten();
    return app.help();
  } catch (const CLI::CallForAllHelp &) {
    return app.help("", CLI::AppFormatMode::All);
  } catch (const CLI::CallForVersion &version) {
    return fmt::format("{}\n", version.what());
  } catch (const CLI::ParseError &error) {
    return fail(fmt::format("{}; see {} --help", error.what(), app.get_name()), ExitStatus::Usage);
  }
  return std::string();
}

bool CommandLine::wasGiven(const std::string &name) const { return own_->app->count(name) > 0; }

size_t CommandLine::countLeadingOptions(const std::vector<std::string> &arguments) const {
  size_t at = 0;
  while (at < arguments.size()) {
    const std::string &word = arguments[at];
    if (word.size() < 2 || word[0] != '-' || word == "--")
      break;
    const CLI::Option *option = own_->app->get_option_no_throw(word);
    at += option && option->get_items_expected_max() > 0 ? 2 : 1;
  }
  return std::min(at, arguments.size());
}

std::optional<uint64_t> parseByteSize(std::string text) {
  try {
    static const CLI::AsSizeValue kSize(false);
    if (!kSize(text).empty()) // replaces the text by the number of bytes
      return std::nullopt;
  } catch (const CLI::Error &) { // CLI11 reports some wrong texts by an exception
    return std::nullopt;
  }
  uint64_t bytes = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  return failed == std::errc() && end == text.data() + text.size() ? std::optional(bytes) : std::nullopt;
}

Option Option::required() const {
  declared_->option->required();
  return *this;
}

Option Option::valueName(const std::string &name) const {
  declared_->option->type_name(name);
  return *this;
}

Option Option::showDefault() const {
  declared_->option->capture_default_str();
  return *this;
}

Option Option::showDefault(const std::string &text) const {
  declared_->option->default_str(text);
  return *this;
}

Option Option::excludes(Option other) const {
  declared_->option->excludes(other.declared_->option);
  return *this;
}

Option Option::needs(Option other) const {
  declared_->option->needs(other.declared_->option);
  return *this;
}

Option Option::oneOf(const std::vector<std::string> &choices) const {
  declared_->option->check(CLI::IsMember(choices));
  return suggest(choices);
}

Option Option::suggest(const std::vector<std::string> &choices) const {
  declared_->choices = choices;
  return *this;
}

template <class Number> Option Option::between(Number least, Number most) const {
  declared_->option->check(CLI::Range(least, most));
  return *this;
}

template <class Number> Option Option::between(Number least, Number most, const std::string &description) const {
  declared_->option->check(CLI::Range(least, most).description(description));
  return *this;
}

#define MSL_NUMBER_OF_OPTION(Number)                                                                                   \
  template Option Option::between(Number, Number) const;                                                               \
  template Option Option::between(Number, Number, const std::string &) const;
MSL_NUMBER_OF_OPTION(int)
MSL_NUMBER_OF_OPTION(double)
MSL_NUMBER_OF_OPTION(uint32_t)
MSL_NUMBER_OF_OPTION(uint64_t)
#undef MSL_NUMBER_OF_OPTION

Option Option::byteSize() const {
  declared_->option->transform(CLI::AsSizeValue(false));
  return *this;
}

Option Option::separatedBy(char separator) const {
  declared_->option->delimiter(separator);
  return *this;
}

Option Option::secondWordAfter(const std::string &first) const {
  declared_->first_of_two = first;
  return *this;
}

Option Option::oneAtATime() const {
  declared_->option->expected(1)->take_all()->allow_extra_args(false);
  return *this;
}

Option Option::check(std::function<std::string(const std::string &)> check) const {
  declared_->option->check(std::move(check));
  return *this;
}

} // namespace msleaks::analysis::inline base
