// Declares the command line of one of our programs once: options, positional words and commands. The help, the man
// pages and the shells' completions are made from these declarations. CLI11 reads the arguments. Only command_line.cpp
// includes CLI11's header, because parsing this header takes four seconds.
#pragma once

#include "analysis/base/result.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace msleaks::analysis::inline base {

struct DeclaredOption;

// An option or positional word that was just declared. Each function returns the same option, to chain calls.
class Option {
public:
  explicit Option(DeclaredOption &declared) : declared_(&declared) {}

  Option required() const;
  Option valueName(const std::string &name) const;   // what the help shows, as in `--html FILE`
  Option showDefault() const;                        // the help shows the variable's present value
  Option showDefault(const std::string &text) const; // shows this text, since there is no variable
  Option excludes(Option other) const;
  Option needs(Option other) const;
  Option oneOf(const std::vector<std::string> &choices) const;
  Option suggest(const std::vector<std::string> &choices) const; // for completions; another value is no error
  template <class Number> Option between(Number least, Number most) const;
  template <class Number> Option between(Number least, Number most, const std::string &description) const;
  Option byteSize() const; // 1024, 4KiB, 10MB
  Option separatedBy(char separator) const;
  Option oneAtATime() const; // `--hooks A --hooks B`: each --hooks takes only one word
  // The word `first` and the next word are one value: in `--metric place FILE:LINE`, the value "place FILE:LINE".
  Option secondWordAfter(const std::string &first) const;
  // `check` returns a text that says what is wrong with a value, or an empty text.
  Option check(std::function<std::string(const std::string &)> check) const;

private:
  DeclaredOption *declared_;
};

// Whether --help shows a group of options, or only --help-all does.
enum class Shown { Always, InFullHelp };

class CommandLine {
public:
  CommandLine(const std::string &program, const std::string &summary);
  ~CommandLine();
  CommandLine(const CommandLine &) = delete;
  CommandLine &operator=(const CommandLine &) = delete;

  void version(const std::string &text);
  void usage(const std::string &text); // the first line of the help

  // Puts the options that are declared after this call into this group of the help.
  void group(const std::string &name, Shown shown = Shown::Always);

  // `names` is "-o,--output" for an option, or a name without dashes for a positional word. A value is a string, a
  // number, an optional of these, or a vector of strings.
  template <class Value> Option option(const std::string &names, Value &value, const std::string &doc);
  // `take` stores a value. It returns a text that says what is wrong with the value, or an empty text.
  Option optionWith(const std::string &names, std::function<std::string(const std::string &)> take,
                    const std::string &doc);
  Option flag(const std::string &names, bool &value, const std::string &doc);
  Option flagWith(const std::string &names, std::function<void()> take, const std::string &doc);

  // Calls `chosen` after the arguments are read, if they name this command.
  CommandLine &command(const std::string &name, const std::string &summary, std::function<void()> chosen);
  void requireCommand();
  // The command itself and all arguments after it are stored in `rest`, and are not read: they are for another program.
  void passOn(std::vector<std::string> &rest);
  // Whether the arguments named a command that has called passOn().
  bool passedOn() const;

  // `arguments` does not contain the program's own name. If the user asks for --help or --version, returns the text to
  // print, and the program has nothing else to do. Otherwise returns an empty text.
  Result<std::string> parse(const std::vector<std::string> &arguments);

  bool wasGiven(const std::string &name) const;
  // Counts the arguments at the beginning that are options or values of options.
  size_t countLeadingOptions(const std::vector<std::string> &arguments) const;

private:
  struct Declarations;
  explicit CommandLine(std::unique_ptr<Declarations> declarations);
  std::unique_ptr<Declarations> own_;
};

// Reads a number of bytes from a text such as "4KiB", as the option byteSize() does.
std::optional<uint64_t> parseByteSize(std::string text);

} // namespace msleaks::analysis::inline base
